// Figures as people read them; the same rules as in the shell.

export function number(value) {
  if (value === null || value === undefined) return "-";
  if (Number.isInteger(value)) return value.toLocaleString("en-US", { useGrouping: Math.abs(value) >= 10000 });
  if (Math.abs(value) < 1e-9) return "0";
  const text = value.toFixed(3).replace(/\.?0+$/, "");
  if (text === "0" || text === "-0") return value.toPrecision(3);
  return Math.abs(value) >= 10000 ? Number(text).toLocaleString("en-US", { maximumFractionDigits: 3 }) : text;
}

export function percent(share, digits = 1) {
  return `${(share * 100).toFixed(digits)}%`;
}

export function cellText(value, column) {
  if (value === null) return "-";
  if (value === true) return "yes";
  if (value === false) return "no";
  if (typeof value !== "number") return String(value);
  if (value === -1 && ["transaction", "operation", "launch"].includes(column.leads)) return "-";
  return column.percent ? percent(value) : number(value);
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
