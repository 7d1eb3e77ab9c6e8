// A line to search in above every table of more than fifteen rows.
document.addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll("article table.docutils")) {
    const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
    if (rows.length <= 15) continue;
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
    });
    const wrapper = table.closest(".table-wrapper") ?? table;
    wrapper.before(field);
  }
});
