"""Parts of logs read apart from each other: where to cut, around damage too, and what was before."""
