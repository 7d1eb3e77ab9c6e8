// Sliders for a panda's joints, and the torques that hold them, which WebAssembly computes at each move.
document.addEventListener("DOMContentLoaded", () => {
  for (const place of document.querySelectorAll(".torques[data-program]")) {
    start(place).catch((error) => {
      place.textContent = `This page needs a web server (python -m http.server): ${error.message}`;
    });
  }

  async function start(place) {
    const file = await fetch(place.dataset.program);
    if (!file.ok) throw new Error(`${place.dataset.program}: ${file.status}`);
    const program = (await WebAssembly.instantiate(await file.arrayBuffer())).instance.exports;
    const joints = 7; // of the arm; the eighth coordinate is its fingers'
    const numbers = (address) => new Float64Array(program.memory.buffer, address, joints);
    const q = numbers(program.q()), tau = numbers(program.tau());
    const lower = numbers(program.lower()), upper = numbers(program.upper());
    const limit = numbers(program.effort_limit());
    const outputs = [];
    const show = () => {
      program.rnea(); // v and a are zero, so that only gravity is left
      outputs.forEach((each, k) => {
        each.value = `${tau[k].toFixed(2)} of ${limit[k].toFixed(0)} N m`;
      });
    };
    place.replaceChildren();
    for (let k = 0; k < joints; ++k) {
      const row = document.createElement("label"), slider = document.createElement("input");
      const range = { type: "range", min: lower[k], max: upper[k], step: 0.001 };
      Object.assign(slider, range, { value: Math.min(Math.max(0, lower[k]), upper[k]) });
      q[k] = Number(slider.value);
      slider.addEventListener("input", () => {
        q[k] = Number(slider.value);
        show();
      });
      outputs.push(document.createElement("output"));
      row.append(`joint ${k + 1}`, slider, outputs[k]);
      place.append(row);
    }
    show();
  }
});
