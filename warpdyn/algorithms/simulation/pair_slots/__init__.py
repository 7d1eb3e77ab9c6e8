"""Contacts between bodies, in slots: the pairs that are near each other take turns in one loop.

A group has pairs of one kind (`pair_groups`). In each step every environment chooses the pairs that
are near (`near_pairs`), of robots' links those of their contacts that may touch
(`touching_contacts`), computes the contacts (`pairs_at`, `slot_contact`), sweeps over them
(`group_slots`, `slot_sweeps`), and keeps their impulses for the next step (`pair_memory`). Many
points on the ground are pairs of the ground and a sphere (`ground_points`). Bodies,
shapes and pairs are read by number (`rows_by_number`, `shape_rows`, `numbered_bodies`).
"""
