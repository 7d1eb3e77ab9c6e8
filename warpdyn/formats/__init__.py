"""Robot descriptions, one file for each format: text in, `warpdyn.model.Model` out."""
