"""Parts of the HCI 4D light field layout (`hci4d`)."""
