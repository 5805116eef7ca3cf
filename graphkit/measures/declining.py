"""Answers that decline, recognised by their words: in English, German, French, Spanish, Italian, Portuguese, Dutch,
Chinese and Japanese.

It is a reading with a doubt: a record that states ``abstained`` needs none. An answer that is blank declines, as in
SQuAD 2. Any other declines if its first sentence begins with a phrase, or its last one is a phrase and nothing more;
in Japanese, if its first or last sentence ends with one. An answer that goes on with a *but*, or names what it knows
after an *other than*, answers.
"""

from __future__ import annotations

import re

from graphkit.measures.text import normalised

#: What is read of an answer: its beginning and its end. A longer sentence says more than a phrase.
_HEAD, _TAIL = 600, 200

# Texts are normalised first: in lower case, ß as ss, and the signs of Chinese as those of English.

#: What may stand before a phrase.
_BEFORE = re.compile(
    r"(?:(?:final answer|answer|antwort|réponse|respuesta|risposta|resposta|antwoord|答案|回答)\s*[:：]\s*)?"
    r"(?:(?:(?:i'?m |i am )?(?:very )?sorry|(?:i|we) apologi[sz]e|apologies|unfortunately|honestly|to be honest"
    r"|(?:based on|according to|from|given) (?:the|this) [\w ]{0,40}"
    r"|(?:es )?tut mir leid|leider|entschuldigung|(?:je suis )?désolée?|malheureusement|lo siento|lamentablemente"
    r"|mi dispiace|purtroppo|desculpe|sinto muito|infelizmente|helaas|(?:het )?spijt me"
    r"|(?:很|非常)?抱歉|对不起|對不起|根据[^,，。]{0,20}|根據[^,，。]{0,20}|申し訳(?:ありません|ございません)(?:が)?|すみません(?:が)?)"
    r"(?:\s*[,，、.。:]\s*|\s+)(?:(?:but|aber|mais|pero|ma|mas|maar|但是?)\s+)?)?"
)

#: What an answer consists of that names none.
_WHOLE = re.compile(
    r"(?:unknown|n/?a|not found|not available|no answer|no answer possible|unanswerable|noanswer|cannot answer"
    r"|not in (?:the )?context|idk|unbekannt|nicht beantwortbar|keine antwort|inconnue?|sans réponse"
    r"|aucune information(?: disponible)?|desconocido"
    r"|sin respuesta|sconosciuto|nessuna risposta|desconhecido|sem resposta|onbekend|geen antwoord|geen idee"
    r"|未知|不详|不詳|无答案|無答案|不明)"
)

_KNOWS = (
    r"(?:know|have (?:any|enough|sufficient) (?:information|context|data|evidence)|have the (?:information|answer))"
)
_SOURCES = r"(?:context|documents?|passages?|texts?|sources?|graph|information|code|repositor(?:y|ies)|chunks?)"
_PHRASES = (
    # English
    rf"(?:i|we) (?:do not|don'?t|did not|didn'?t) {_KNOWS}\b(?! (?:how|what) else)",
    r"(?:i|we) have (?:no (?:idea|information|knowledge|answer|way to (?:tell|know))|insufficient|not enough)\b",
    r"(?:i|we) (?:can ?not|can'?t|could not|couldn'?t|am unable to|'m unable to|are unable to|was unable to) "
    r"(?:\w+ly )?(?:answer|determine|tell|say|find|provide|confirm|verify|locate|help)\b",
    r"(?:i|we)(?: am|'m| are|'re) (?:not sure|unsure|not certain|not able to (?:answer|determine|tell|say|find))\b",
    r"(?:it|this|that|(?:the|this|your) question) (?:can ?not|can'?t|could not|couldn'?t) be "
    r"(?:\w+ly )?(?:answered|determined|said|inferred|known)\b",
    r"(?:it is|it's) (?:not (?:possible|clear)|impossible|unclear) (?:to (?:answer|determine|tell|say|know)|from)\b",
    r"(?:there is|there's|there was) (?:not enough|insufficient|no) (?:information|context|evidence|data)\b"
    r"(?! (?:is|are|was|were)\b)",
    r"(?:not enough|insufficient) (?:information|context|evidence|data)"
    r"(?= to\b|\Z| (?:is|was) (?:given|provided|available)| (?:given|provided|available)\b)",
    r"no (?:information|evidence)(?= (?:is|was)? ?(?:given|provided|available|found|about|on)\b)",
    rf"(?:the|this|these|that) (?:\w+ )?(?:\w+ )?{_SOURCES} (?:do not|don'?t|does not|doesn'?t|did not|didn'?t) "
    r"(?:contain|mention|provide|include|say|specify|state|tell|have|show|answer|give)\b",
    r"(?:there is|there's|there are) no (?:such\b|(?:\w+ )?(?:path|connection|link|route|answer"
    r"|way to (?:tell|know))s?\b)",
    r"no (?:such \w+|(?:\w+ )?path|(?:\w+ )?connection) (?:exists?|connects|leads|was found)\b",
    r"(?:the|this|your) (?:question|premise) (?:assumes|has a false premise|is (?:false|wrong"
    r"|unanswerable|based on a false))",
    # The same in other languages
    r"(?:(?:die|diese) frage (?:setzt (?:fälschlich )?voraus|geht davon aus)|(?:la|cette) question suppose"
    r"|(?:la|esta) pregunta (?:supone|asume)|la domanda presuppone|a pergunta (?:supõe|pressupõe)"
    r"|(?:de|deze) vraag veronderstelt)\b",
    # German
    r"(?:ich weiss|(?:das|es) weiss ich|weiss ich)(?: das| es)? (?:leider )?nicht\b(?! nur)",
    r"(?:ich habe )?keine ahnung\b",
    r"(?:ich kann|kann ich) (?:(?:die|diese|ihre|deine) frage|das|dies|es|dazu|darauf"
    r"|hierzu)(?: leider)? (?:nicht|keine?)\b(?! nur)",
    r"(?:das|dies|es|(?:die|diese) frage) (?:lässt|laesst) sich (?:[\w ]{0,40} )?nicht "
    r"(?:sagen|beantworten|feststellen|ermitteln|bestimmen)",
    r"(?:die|diese) frage (?:kann|ist) (?:[\w ]{0,40} )?nicht (?:beantwortet werden|zu beantworten|beantwortbar)",
    r"(?:dazu|darüber|hierzu) (?:habe ich|liegen mir|liegen|gibt es|finde ich) (?:leider )?(?:keine|nicht)\b",
    r"(?:ich habe|es gibt|mir fehlen) (?:(?:leider )?(?:keine|nicht genug|nicht genügend|zu wenige?) )?"
    r"(?:die )?(?:informationen|angaben)\b",
    r"(?:der|im|die|den) (?:kontext|text|dokumente?n?|quellen?) (?:[\w ]{0,20} )?"
    r"(?:enthält|enthalten|erwähnt|erwähnen|nennt|nennen|steht|sagt) (?:[\w ]{0,20} )?(?:nichts|keine?n?|nicht)\b",
    r"es (?:gibt|existiert) keinen? (?:solchen? )?(?:weg|pfad|verbindung|antwort)\b",
    r"ich (?:habe|konnte) (?:(?:dazu |leider )?(?:nichts|keine? [\w ]{0,30}?"
    r"|[\w.:/#-]{1,60} nicht) )(?:ge)?f[iu]nden\b",
    # French
    r"je (?:ne |n')?(?:le )?sais pas\b(?! que)",
    r"(?:je l'ignore|j'ignore)\b",
    r"je ne (?:peux|puis|suis)(?: malheureusement)? pas (?:en mesure de )?(?:y |vous )?(?:répondre|dire"
    r"|déterminer|trouver)\b",
    r"je n'ai (?:pas|aucune) (?:assez d'|suffisamment d'|d'|l')?information",
    r"je (?:n'ai|ne) (?:rien |pas (?:pu )?)?trouv(?:é|er|e)\b",
    r"(?:il est )?impossible (?:de|d'y) (?:répondre|dire|déterminer|savoir)\b",
    r"(?:le|ce|les|ces) (?:contexte|texte|documents?|sources?|passages?)(?: fournis?)? (?:ne "
    r"|n')\w+ (?:pas|aucune?|rien)\b",
    r"il n'y a (?:pas (?:assez d'|suffisamment d'|d')|aucune )information",
    r"il n'(?:existe|y a) (?:aucun|pas de) (?:tel )?(?:chemin|lien|réponse)\b",
    r"(?:on|la question) ne peut pas (?:y répondre|répondre|le dire|le savoir|être répondue)",
    # Spanish
    r"no (?:lo )?sé\b(?! que)",
    r"(?:lo )?desconozco\b",
    r"no (?:puedo|podemos|soy capaz de) (?:responder|contestar|determinar|decir|encontrar)\w*\b",
    r"no (?:he encontrado|encontré|encuentro"
    r"|pude (?:encontrar|responder|determinar)|he podido (?:encontrar|responder))\b",
    r"no (?:tengo|hay|dispongo de|se dispone de) (?:suficiente |la |bastante |ninguna )?(?:información"
    r"|datos)\b(?! que se)",
    r"(?:el|este|los|estos|la) (?:contexto|texto|documentos?|fuentes?|pasajes?)(?: proporcionados?)? no "
    r"(?:menciona|contiene|proporciona|indica|incluye|dice|especifica)n?\b",
    r"no (?:se puede|es posible) (?:responder|determinar|saber|contestar|decir)\b",
    r"no (?:existe|hay) (?:ningún|un|tal) (?:camino|ruta|enlace|respuesta)\b",
    # Italian
    r"non (?:lo )?so\b(?! che)",
    r"non (?:posso|sono in grado di|riesco a) (?:rispondere|determinare|dire|trovare)\w*\b",
    r"non (?:ho trovato|trovo|ho potuto trovare|sono riuscit[oa] a (?:trovare|rispondere))\b",
    r"non (?:ho|ci sono|dispongo di) (?:abbastanza |sufficienti |le )?(?:informazioni|dati)\b(?! che si)",
    r"(?:il|questo|i|questi) (?:contesto|testo|documenti?|fonti|brani)(?: forniti?o?)? non "
    r"(?:menziona(?:no)?|contengono|contiene|fornisce|forniscono|indica(?:no)?|specifica(?:no)?|dice|dicono)\b",
    r"(?:è impossibile|impossibile|non è possibile) (?:rispondere|determinare|dire|saperlo|stabilire)\b",
    r"non (?:esiste|c'è) (?:alcun|un|nessun) (?:percorso|cammino|collegamento)\b",
    # Portuguese
    r"(?:eu )?não (?:o )?sei\b(?! que)",
    r"(?:eu )?desconheço\b",
    r"(?:eu )?não (?:posso|consigo|sou capaz de) (?:responder|determinar|dizer|encontrar)\w*\b",
    r"(?:eu )?não (?:encontrei|(?:consegui|pude) (?:encontrar|responder|determinar))\b",
    r"(?:eu )?não (?:tenho|há|disponho de) (?:a |as |qualquer )?informaç(?:ão|ões)\b(?! que se)",
    r"o(?:s)? (?:contexto|texto|documentos?)(?: fornecidos?)? não (?:menciona|contém|contêm|fornece"
    r"|indica|inclui|diz)m?\b",
    r"não é possível (?:responder|determinar|saber|dizer)\b",
    r"não (?:existe|há) (?:nenhum|um|tal) caminho\b",
    # Dutch
    r"(?:ik weet|(?:dat|dit) weet ik)(?: het| dat)? (?:helaas )?niet\b(?! alleen)",
    r"ik heb geen idee\b",
    r"ik kan (?:de vraag|deze vraag|dit|dat|het)(?: helaas)? niet (?:beantwoorden|zeggen|bepalen|vinden)\b",
    r"ik (?:heb|kon) (?:(?:helaas )?(?:niets|geen [\w ]{0,30}?|[\w.:/#-]{1,60} niet) )(?:gevonden|vinden)\b",
    r"(?:er is|ik heb) (?:onvoldoende|niet genoeg|geen)(?: \w+)? informatie\b(?! die)",
    r"(?:de|deze|het) (?:context|tekst|documenten|bronnen) (?:bevat|bevatten|geeft|geven|vermeldt"
    r"|vermelden|noemt|zegt) "
    r"(?:[\w ]{0,20} )?(?:niet|geen|niets)\b",
    r"(?:dit|dat|de vraag|deze vraag) (?:kan|is) niet (?:worden beantwoord|beantwoord worden"
    r"|te beantwoorden|te bepalen)\b",
    r"er (?:is|bestaat) geen (?:pad|verbinding|antwoord)\b",
    # Chinese
    r"我?(?:不知道|不清楚|不确定|不確定|不了解)",
    r"(?:我|该问题|这个问题|此问题|該問題|這個問題)?(?:无法|無法|不能)(?:回答|确定|確定|判断|判斷|得知|找到|从|從)",
    r"我?(?:(?:没有|沒有|没|沒|未)(?:能)?找到|找不到)",
    r"(?:没有|沒有|缺乏|未提供)(?:足够的?|足夠的?|相关的?|相關的?|任何)?(?:信息|資訊|资料|資料|这样的|這樣的|路径|路徑)",
    r"(?:上下文|文中|文本|文档|文檔|资料|資料|提供的\w{0,6})(?:中|里|裡)?(?:没有|沒有|并未|並未|未)(?:提到|提及|说明|說明|包含|给出|給出|提供)",
    r"不存在(?:这样的|這樣的|从|從|任何)?[^,，。]{0,20}(?:路径|路徑|关系|關係|连接|連接)",
)
_PHRASE = re.compile("|".join(_PHRASES))

#: The ends of Japanese sentences that decline.
_JAPANESE = re.compile(
    r"(?:わかりません|分かりません|わかりませんでした|分かりませんでした|わからない|分からない|知りません|不明です|判断できません"
    r"|お?答えできません|回答できません|特定できません|見つかりません|見つかりませんでした|情報(?:が|は)(?:ありません|不足しています)"
    r"|記載(?:が|は|されて)(?:ありません|いません)|言及されていません|(?:経路|パス|関係)(?:は|が)(?:存在しません|ありません))\Z"
)

#: What shows that an answer goes on, after a phrase in its sentence or at the beginning of a later one.
_GOES_ON = re.compile(
    r"\b(?:but|however|yet(?= \w)|although|though|nevertheless|nonetheless|that said|other than|except"
    r"|besides|apart from"
    r"|beyond|aber|jedoch|allerdings|dennoch|trotzdem|ausser|sondern|mais|cependant|toutefois|pourtant|néanmoins"
    r"|en revanche|sauf|hormis|pero|sin embargo|aunque|no obstante|salvo|excepto|ma|però|tuttavia|eppure|tranne"
    r"|mas|porém|no entanto|contudo|todavia|exceto|maar|echter|toch|behalve|the answer is|my (?:best )?guess is"
    r"|(?:it is|it's) (?:likely|probably)|probably|likely|vermutlich|wahrscheinlich|probablement|probablemente"
    r"|probabilmente|provavelmente|waarschijnlijk)\b|(?<=[,;:.] )(?:instead|rather|stattdessen|plutôt|à la place"
    r"|en cambio|en su lugar|invece"
    r"|em vez disso|em troca"
    r"|in plaats daarvan|in plaats hiervan)\b|但是?|而是|相反|不过|不過|然而|可是|除了"
    r"|しかし|ただし|けれど|ものの|代わりに|が、|ですが"
)

#: Ends of sentences and of the clauses that a colon, a semicolon or a dash ends.
_END = re.compile(r"(?<=[.!?]) | [–—] |[。！？] ?| ?[;；:：] ")
_SIGNS = " \t*_#>`\"'“”‘’«»„.!?。！？…"


def declines(text: str) -> bool:
    """Return whether an answer declines, by its words.

    >>> declines("I don't know."), declines("I don't know who wrote it, but api:auth.py reads it."), declines("")
    (True, False, True)
    """
    plain = normalised(text.replace("’", "'"))
    if not (bare := plain.strip(_SIGNS)):
        return True
    head = _BEFORE.sub("", bare[:_HEAD], count=1) if _BEFORE.match(bare) else bare[:_HEAD]
    if len(bare) <= _TAIL and _WHOLE.fullmatch(head.strip(_SIGNS)):
        return True
    if _GOES_ON.search(head):
        return False
    first, *later = [one for part in _END.split(head) if (one := part.strip(_SIGNS))] or [""]
    if _PHRASE.match(first) or _JAPANESE.search(first):
        return True
    last = _BEFORE.sub("", later[-1], count=1) if later and len(bare) <= _HEAD else ""
    found = _PHRASE.match(last)
    return (found is not None and found.end() == len(last)) or _JAPANESE.search(last) is not None
