"""The main job on the bundled storefront, from files to explained failures."""
