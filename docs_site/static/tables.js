// A line to search in above every table of more than fifteen rows; and one for all tables of a page that asks for it.
document.addEventListener("DOMContentLoaded", () => {
  const rowsOf = (table) => [...table.tBodies].flatMap((body) => [...body.rows]);
  const offerSearch = (tables, place) => {
    const rows = tables.flatMap(rowsOf);
    const field = document.createElement("input");
    field.type = "search";
    field.className = "table-filter";
    field.placeholder = `search ${rows.length} rows`;
    field.setAttribute("aria-label", field.placeholder);
    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/);
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
      }
      for (const table of tables) table.hidden = rowsOf(table).every((row) => row.hidden);
    });
    place(field);
  };
  const all = [...document.querySelectorAll("article table.docutils")];
  const asked = document.querySelector(".search-tables");
  if (asked) offerSearch(all, (field) => asked.append(field));
  for (const table of all) {
    if (!asked && rowsOf(table).length > 15) offerSearch([table], (field) => (table.closest(".table-wrapper") ?? table).before(field));
  }
});
