"""Readers of robot descriptions, by format: text in, `warpdyn.model.Model` out."""
