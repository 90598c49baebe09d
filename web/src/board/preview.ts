// The picture of a cell, beside it while the pointer or the focus is on its link.

/** Shows pictures of `a[data-picture]` below a root in `box`; returns how to stop. */
export function previews(root: HTMLElement, box: HTMLElement): () => void {
  const image = document.createElement("img");
  const caption = document.createElement("p");
  box.append(image, caption);
  let shown: HTMLAnchorElement | null = null;
  let closing = 0;

  const show = (link: HTMLAnchorElement): void => {
    window.clearTimeout(closing);
    if (link === shown) return;
    shown = link;
    image.src = link.dataset["picture"] ?? "";
    image.alt = "";
    caption.textContent = link.dataset["pictureAlt"] ?? "";
    if (!box.matches(":popover-open")) box.showPopover();
    place(box, link.getBoundingClientRect());
  };
  const hide = (): void => {
    shown = null;
    if (box.matches(":popover-open")) box.hidePopover();
  };
  // The pointer may cross the gap to the picture, and stay on it.
  const hideSoon = (): void => {
    window.clearTimeout(closing);
    closing = window.setTimeout(hide, 180);
  };
  const stop = new AbortController();
  const on = (target: EventTarget, name: string, handle: (event: Event) => void): void =>
    target.addEventListener(name, handle, { signal: stop.signal });
  const linkOf = (event: Event): HTMLAnchorElement | null =>
    event.target instanceof Element ? event.target.closest<HTMLAnchorElement>("a[data-picture]") : null;

  for (const name of ["pointerover", "focusin"]) {
    on(root, name, (event) => {
      const link = linkOf(event);
      if (link !== null) show(link);
    });
  }
  for (const name of ["pointerout", "focusout"]) {
    on(root, name, (event) => {
      if (linkOf(event) !== null) hideSoon();
    });
  }
  on(box, "pointerenter", () => window.clearTimeout(closing));
  on(box, "pointerleave", hideSoon);
  on(image, "load", () => {
    if (shown !== null) place(box, shown.getBoundingClientRect());
  });
  on(image, "error", hide); // it has not been drawn yet
  on(document, "keydown", (event) => {
    if ((event as KeyboardEvent).key === "Escape") hide();
  });
  on(window, "scroll", hide);
  return () => {
    stop.abort();
    hide();
    box.replaceChildren();
  };
}

/** Below the cell, or above it where there is no room, and always inside of the window. To the right, since names are on the left. */
function place(box: HTMLElement, cell: DOMRect): void {
  const { offsetWidth: width, offsetHeight: height } = box;
  const left = Math.max(8, Math.min(cell.left, window.innerWidth - width - 8));
  const below = cell.bottom + 4;
  const top = below + height > window.innerHeight - 8 ? Math.max(8, cell.top - height - 4) : below;
  box.style.left = `${Math.round(left)}px`;
  box.style.top = `${Math.round(top)}px`;
}
