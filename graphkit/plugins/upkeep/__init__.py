"""Care for a graph: the sizes of what it holds, runs renamed and removed, and what an earlier graphkit wrote."""
