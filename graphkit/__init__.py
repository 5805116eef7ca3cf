"""graphkit: graph-native evaluation of GraphRAG traversals over many repositories."""
