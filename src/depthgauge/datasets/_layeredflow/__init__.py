"""The layout of LayeredFlow: points of tags in pickles, pictures of two times and two cameras."""
