// Figures that the page works out itself, such as ends of what is seen; all others come with their text.

export function number(value) {
  if (Number.isInteger(value)) return String(value);
  if (Math.abs(value) < 1e-9) return "0";
  const text = value.toFixed(3).replace(/\.?0+$/, "");
  return text === "0" || text === "-0" ? value.toPrecision(3) : text;
}

export function percent(share) {
  return `${(share * 100).toFixed(1)}%`;
}

// Round steps of an axis: at most `count` from 0 to `length`.
export function ticks(from, to, count) {
  const length = to - from;
  if (!(length > 0)) return [from];
  const rough = length / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough * (1 - 1e-9));
  const found = [];
  for (let at = Math.ceil(from / step - 1e-9) * step; at <= to + step * 1e-9; at += step) found.push(Number(at.toPrecision(12)));
  return found;
}
