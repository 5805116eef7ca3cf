"""The drawing of a question: lanes and columns, with nothing over anything else."""

from __future__ import annotations

from graphkit.report.layout import NODE_HEIGHT, NODE_WIDTH, draw


def test_gold_runs_from_left_to_right_in_its_lanes() -> None:
    """Nodes of a path get a column a step and the lane of their repository, gold lanes first."""
    drawing = draw(["x", "a", "a", "b"], [[(1, 2), (2, 3)]], [[(2, 0)]], [(1, 2), (2, 3), (2, 0)])
    assert [lane.name for lane in drawing.lanes] == ["a", "b", "x"]
    assert [box.column for box in drawing.boxes] == [2, 0, 1, 2]
    assert [box.lane for box in drawing.boxes] == [2, 0, 0, 1]


def test_what_is_drawn_does_not_overlap() -> None:
    """No two boxes cover one another, each lies in its lane, and all of them in the drawing."""
    names = [f"r{number % 3}" for number in range(12)]
    walks = [[(number, (number * 5 + 1) % 12) for number in range(12)]]
    drawing = draw(names, [[(0, 1), (1, 2)]], walks, walks[0])
    boxes = drawing.boxes
    for number, one in enumerate(boxes):
        lane = drawing.lanes[one.lane]
        assert lane.name == names[number]
        assert lane.y <= one.y
        assert one.y + NODE_HEIGHT <= lane.y + lane.height <= drawing.height
        assert one.x + NODE_WIDTH <= drawing.width
        for other in boxes[number + 1 :]:
            assert abs(one.x - other.x) >= NODE_WIDTH or abs(one.y - other.y) >= NODE_HEIGHT


def test_edges_between_the_same_nodes_run_apart() -> None:
    """Two relations between two nodes are two different lines."""
    drawing = draw(["a", "a"], [[(0, 1)]], [], [(0, 1), (0, 1), (1, 0), (0, 0)])
    assert len({line.path for line in drawing.lines}) == 4
