"use strict";
/* Sorting of tables, and Escape for an open picture; the page is whole without it. */
(function () {
  function key(row, column, order) {
    var text = row.children[column].dataset.value;
    if (order === "text") return text;
    if (text === "") return null;
    var value = Number(text);
    return order === "higher" ? -value : order === "zero" ? Math.abs(value) : value;
  }
  function compare(a, b, sign) {
    if (a === null || b === null) return (a === null) - (b === null);
    return sign * (typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b);
  }
  function sort(table, head) {
    var column = Number(head.dataset.column);
    var again = head.dataset.sorted === "best";
    table.querySelectorAll("th[data-sort]").forEach(function (other) {
      delete other.dataset.sorted;
      other.removeAttribute("aria-sort");
    });
    head.dataset.sorted = again ? "worst" : "best";
    head.setAttribute("aria-sort", (head.dataset.sort === "higher") !== again ? "descending" : "ascending");
    var body = table.tBodies[0];
    Array.from(body.rows)
      .map(function (row) { return { row: row, key: key(row, column, head.dataset.sort) }; })
      .sort(function (a, b) { return compare(a.key, b.key, again ? -1 : 1); })
      .forEach(function (item) { body.appendChild(item.row); });
  }
  document.addEventListener("keydown", function (event) {
    var close = document.querySelector(".light:target .close");
    if (event.key !== "Escape" || !close) return;
    location.hash = close.hash;
    close.parentElement.querySelector(".open").focus({ preventScroll: true });
  });
  document.querySelectorAll("table.sortable").forEach(function (table) {
    table.querySelectorAll("th[data-sort]").forEach(function (head) {
      var button = document.createElement("button");
      button.type = "button";
      button.append.apply(button, Array.from(head.childNodes));
      button.addEventListener("click", function () { sort(table, head); });
      head.append(button);
    });
  });
})();
