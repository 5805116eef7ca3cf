"""Answers that decline, told by their words from answers that only sound so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphkit.measures.declining import declines

#: Answers that decline, by a person's reading.
DECLINED = (
    "I don't know.",
    "I do not know which service calls the login.",
    "I'm sorry, but I don't have enough information to answer that.",
    "Unfortunately, I cannot determine this from the code. The graph ends at web:login.ts.",
    "Answer: unknown",
    "N/A",
    "**Not found.**",
    "",
    "The provided context does not mention a payment service.",
    "Based on the given context, it is not possible to answer.",
    "There is no path from web:login.ts to db:users.sql.",
    "There is no such edge in the graph.",
    "This question cannot be answered: the repository is not in the set.",
    "I looked at web:login.ts and api:auth.py. I can't tell.",
    "The question assumes that web:login.ts calls db:users.sql; no such call exists.",
    "We couldn’t find it.",
    "> I don't know.",
    "## I don't know",
    "IDK",
    "Aucune information disponible.",
    "Geen idee.",
    "Die Frage setzt voraus, dass web:login.ts eine Mail schickt.",
    "La question suppose qu'il existe un tel appel.",
    "La pregunta supone que existe esa llamada.",
    "La domanda presuppone una tale chiamata.",
    "A pergunta pressupõe que essa chamada existe.",
    "De vraag veronderstelt dat die aanroep bestaat.",
    "Das weiß ich nicht.",
    "Leider kann ich die Frage nicht beantworten.",
    "Die Frage lässt sich anhand des Kontexts nicht beantworten.",
    "Es gibt keinen Pfad von a nach b.",
    "Je ne sais pas.",
    "Désolé, je ne peux pas répondre à cette question.",
    "Le contexte fourni ne mentionne pas ce service.",
    "No lo sé.",
    "Lo siento, no puedo responder a esa pregunta.",
    "El contexto no menciona ese servicio.",
    "Non lo so.",
    "Il contesto non menziona questo servizio.",
    "Não sei.",
    "Não é possível determinar isso com o contexto.",
    "Ik weet het niet.",
    "Er is onvoldoende informatie om dit te beantwoorden.",
    "我不知道。",
    "抱歉，无法回答这个问题。",
    "根据提供的信息，文中没有提到该服务。",
    "わかりません。",
    "申し訳ありませんが、この質問にはお答えできません。",
    "提供された文書からは判断できません。",
    "Ich konnte keine Antwort finden.",
    "Ich habe dazu nichts gefunden.",
    "Je n'ai rien trouvé.",
    "Je n'ai pas trouvé de réponse.",
    "No encontré ninguna respuesta.",
    "No pude encontrar la respuesta.",
    "Non ho trovato una risposta.",
    "Não encontrei nenhuma resposta.",
    "Ik heb geen antwoord gevonden.",
    "我没有找到答案。",
    "找不到相关信息。",
    "該当する情報は見つかりませんでした。",
)

#: Answers that answer, although they hold the words of a decline.
ANSWERED = (
    "La question suppose un mailer, mais web:login.ts appelle api:auth.py.",
    "I don't know who wrote it, but web:login.ts calls api:auth.py.",
    "I don't know. However, api:auth.py is the only module that reads users.",
    "I don't know of any caller other than api:auth.py.",
    "There is no path other than the one through api:auth.py.",
    "Unknown callers are rejected by gateway:auth.py.",
    "No.",
    "No information is lost: api:auth.py keeps the token.",
    "Not found errors are raised in api:errors.py.",
    'The handler returns the text "I don\'t know" when the cache is empty.',
    "web:login.ts calls api:auth.py. Beyond that, I don't know.",
    "The login cannot be used without api:auth.py.",
    "Does it cache? I don't know. It calls api:auth.py.",
    "There is no information is what api:auth.py answers then.",
    "The unanswerable case is handled by api:fallback.py.",
    "api:auth.py doesn't know the user, since db:users.sql has no such row.",
    "I can't answer for the cache, although the login itself calls api:auth.py.",
    "The client sends n/a as its version.",
    "Ich weiß nicht, wer das schrieb, aber web:login.ts ruft api:auth.py auf.",
    "Ich weiß nicht nur den Aufrufer, sondern auch das Ziel: api:auth.py.",
    "Der Dienst gibt Unbekannt zurück, wenn das Token fehlt.",
    "Je ne sais pas pourquoi, mais web:login.ts appelle api:auth.py.",
    "Je sais que api:auth.py lit la table.",
    "No sé por qué, pero web:login.ts llama a api:auth.py.",
    "No. Lo llama api:auth.py.",
    "Non so perché, ma web:login.ts chiama api:auth.py.",
    "Não sei por quê, mas web:login.ts chama api:auth.py.",
    "Ik weet niet waarom, maar web:login.ts roept api:auth.py aan.",
    "我不知道原因，但是 web:login.ts 调用 api:auth.py。",
    "不知道的用户会被 api:auth.py 拒绝，不过管理员除外。",
    "理由はわかりませんが、web:login.ts は api:auth.py を呼びます。",
    "画面には「わかりません」と表示されます。",
    "api:auth.py",
    # Half-declines: what wasn't found, and what was.
    "I couldn't find the mailer, but api:auth.py calls the queue.",
    "I can't find the mailer; instead api:auth.py calls the queue.",
    "Although the context does not mention the mailer, api:auth.py calls it.",
    "There is no direct path, but web:login.ts reaches it via api:queue.py.",
    "Ich konnte den Mailer nicht finden, aber api:auth.py ruft die Queue auf.",
    "Ich kann das nicht finden, stattdessen ruft api:auth.py die Queue auf.",
    "Es gibt keinen direkten Weg, sondern einen über api:queue.py.",
    "Je n'ai pas trouvé le mailer, mais api:auth.py appelle la file.",
    "Je ne peux pas trouver le mailer, en revanche api:auth.py appelle la file.",
    "Le contexte ne mentionne pas le mailer, cependant api:auth.py l'appelle.",
    "No encontré el mailer, pero api:auth.py llama a la cola.",
    "No puedo encontrar el mailer, en cambio api:auth.py llama a la cola.",
    "No hay información sobre el mailer; sin embargo, api:auth.py lo llama.",
    "Non ho trovato il mailer, ma api:auth.py chiama la coda.",
    "Non riesco a trovare il mailer, invece api:auth.py chiama la coda.",
    "Il contesto non menziona il mailer, tuttavia api:auth.py lo chiama.",
    "Não encontrei o mailer, mas api:auth.py chama a fila.",
    "Não consigo encontrar o mailer, em vez disso api:auth.py chama a fila.",
    "Não há informação sobre o mailer; no entanto, api:auth.py o chama.",
    "Ik kon mailer niet vinden, maar api:auth.py roept de wachtrij aan.",
    "Ik kan het niet vinden, in plaats daarvan roept api:auth.py de wachtrij aan.",
    "De context vermeldt de mailer niet, maar api:auth.py roept hem aan.",
    "我没有找到邮件服务，但是 api:auth.py 调用了队列。",
    "文中没有提到邮件服务，然而 api:auth.py 调用了它。",
    "我找不到邮件服务，而是 api:auth.py 调用了队列。",
    "メーラーは見つかりませんでしたが、api:auth.py がキューを呼び出します。",
    "メーラーは見つかりません。しかし、api:auth.py がキューを呼び出します。",
    "メーラーについてはわかりませんが、api:auth.py が読み込みます。",
)


@pytest.mark.parametrize("answer", DECLINED)
def test_declines(answer: str) -> None:
    """A person reads that the answer gives none, and so do its words."""
    assert declines(answer)


@pytest.mark.parametrize("answer", ANSWERED)
def test_answers(answer: str) -> None:
    """The answer names something, whatever it says that it doesn't know."""
    assert not declines(answer)


def test_the_table_is_long_enough_and_half_of_it_are_traps() -> None:
    """Neither half of the table passes by a reading that always says the same."""
    assert len(DECLINED) >= 30
    assert len(ANSWERED) >= 30


@given(st.sampled_from(DECLINED), st.sampled_from(("", " ", "\n", "*", '"')))
def test_space_signs_and_case_around_an_answer_decide_nothing(answer: str, around: str) -> None:
    """What stands around a text, and its case, aren't its words."""
    assert declines(f"{around}{answer}{around}")
    assert declines(answer.upper())
