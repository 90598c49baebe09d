"""Parts of the Booster layouts: balanced (`booster`) and unbalanced (`booster_unbalanced`)."""
