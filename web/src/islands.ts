// The one script of a page. It loads an island only if the page has its element, and those further
// down only when they come near the window.

const ISLANDS: Record<string, () => Promise<unknown>> = {
  "dg-board": () => import("./board/board.js"),
  "dg-chart": () => import("./chart/chart.js"),
  "dg-clean": () => import("./clean/clean.js"),
  "dg-compare": () => import("./compare/compare.js"),
  "dg-draw": () => import("./draw/draw.js"),
  "dg-lightfield": () => import("./lightfield/lightfield.js"),
  "dg-masks": () => import("./masks/masks.js"),
  "dg-points": () => import("./points/points.js"),
  "dg-rank": () => import("./rank/rank.js"),
  "dg-stereo": () => import("./stereo/stereo.js"),
  "dg-tags": () => import("./tags/tags.js"),
};

const near = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      near.unobserve(entry.target);
      void ISLANDS[entry.target.localName]?.();
    }
  },
  { rootMargin: "400px" },
);

for (const name of Object.keys(ISLANDS)) {
  for (const element of document.querySelectorAll(name)) near.observe(element);
}
