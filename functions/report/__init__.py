"""The page of `report`: what is known of each cluster, counted, drawn, and written as one HTML file."""
