"""A user's trained model and its data, as mutation testing, adequacy and mending ask for them."""
