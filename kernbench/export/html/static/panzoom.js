// Pan and zoom of an SVG by its view box: wheel, drag, two fingers, and keys.

const STEP = 1.25;
const MOST = 40;

export function panZoom(svg, width, height) {
  let box = { x: 0, y: 0, w: width, h: height };
  const fingers = new Map();
  let moved = false;

  function show() {
    svg.setAttribute("viewBox", `${box.x} ${box.y} ${box.w} ${box.h}`);
    svg.dataset.zoom = (width / box.w).toFixed(3);
  }

  // Where a point of the window is on the picture, which keeps its proportions within the element.
  function at(clientX, clientY) {
    const rect = svg.getBoundingClientRect();
    const scale = Math.min(rect.width / box.w, rect.height / box.h) || 1;
    return {
      x: box.x + (clientX - rect.left - (rect.width - box.w * scale) / 2) / scale,
      y: box.y + (clientY - rect.top - (rect.height - box.h * scale) / 2) / scale,
      scale,
    };
  }

  function zoom(factor, point = { x: box.x + box.w / 2, y: box.y + box.h / 2 }) {
    const w = Math.min(Math.max(box.w / factor, width / MOST), width * 1.5);
    const by = w / box.w;
    box = { x: point.x - (point.x - box.x) * by, y: point.y - (point.y - box.y) * by, w, h: box.h * by };
    show();
  }

  function pan(dx, dy) {
    box = { ...box, x: box.x + dx, y: box.y + dy };
    show();
  }

  function fit() {
    box = { x: 0, y: 0, w: width, h: height };
    show();
  }

  // A unit of the picture takes at least `scale` pixels, around this point but within the picture.
  function atLeast(scale, [x, y]) {
    const rect = svg.getBoundingClientRect();
    const now = Math.min(rect.width / box.w, rect.height / box.h);
    if (!(now < scale)) return;
    const [w, h] = [rect.width / scale, rect.height / scale];
    const within = (middle, seen, all) => Math.min(Math.max(middle - seen / 2, 0), Math.max(all - seen, 0)) - Math.max(seen - all, 0) / 2;
    box = { x: within(x, w, width), y: within(y, h, height), w, h };
    show();
  }

  function centre(x, y, w = width / 3) {
    const wide = Math.min(w, width);
    const tall = wide * height / width;
    box = { x: x - wide / 2, y: y - tall / 2, w: wide, h: tall };
    show();
  }

  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(event.deltaY < 0 ? STEP : 1 / STEP, at(event.clientX, event.clientY));
  }, { passive: false });
  svg.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    moved = false;
  });
  svg.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const dx = event.clientX - before.x, dy = event.clientY - before.y;
    if (Math.abs(dx) + Math.abs(dy) < 3 && !moved) return;
    if (!moved) svg.setPointerCapture(event.pointerId);
    moved = true;
    const others = [...fingers].filter(([id]) => id !== event.pointerId).map(([, point]) => point);
    const { scale } = at(0, 0);
    if (others.length) {
      const far = (p) => Math.hypot(p.x - others[0].x, p.y - others[0].y) || 1;
      const now = { x: event.clientX, y: event.clientY };
      zoom(far(now) / far(before), at((now.x + others[0].x) / 2, (now.y + others[0].y) / 2));
    } else {
      pan(-dx / scale, -dy / scale);
    }
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  });
  for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, (event) => fingers.delete(event.pointerId));
  svg.addEventListener("click", (event) => { if (moved) event.stopPropagation(); moved = false; }, true);
  svg.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const by = { "+": () => zoom(STEP), "=": () => zoom(STEP), "-": () => zoom(1 / STEP), 0: fit, Home: fit,
      ArrowLeft: () => pan(-box.w / 10, 0), ArrowRight: () => pan(box.w / 10, 0),
      ArrowUp: () => pan(0, -box.h / 10), ArrowDown: () => pan(0, box.h / 10) }[event.key];
    if (by) { by(); event.preventDefault(); }
  });
  svg.setAttribute("tabindex", "0");
  show();
  return { zoomIn: () => zoom(STEP), zoomOut: () => zoom(1 / STEP), fit, centre, atLeast };
}
