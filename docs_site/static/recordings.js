// A recording's picture gives way to the shared viewer that plays it: when asked, or by itself where the page says so.
document.addEventListener("DOMContentLoaded", () => {
  for (const place of document.querySelectorAll(".recording[data-recording]")) {
    const play = () => {
      const frame = document.createElement("iframe");
      frame.src = place.dataset.recording;
      frame.title = place.querySelector("img")?.alt ?? "recording";
      place.replaceChildren(frame);
    };
    const button = document.createElement("button");
    button.textContent = "▶ play";
    button.addEventListener("click", play);
    place.append(button);
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches || navigator.webdriver;
    if (place.dataset.plays !== undefined && !still && location.protocol !== "file:")
      addEventListener("load", () => setTimeout(play, 500));
  }
});
