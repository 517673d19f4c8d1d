// Where the page's data come from: the server that sent it, or the file itself.

const IN_WINDOW = ["run", "launch", "from", "to", "bars", "rows"];

function given(params) {
  return Object.entries(params).filter(([, value]) => value !== undefined && value !== null && value !== "");
}

async function answered(response) {
  const body = await response.json();
  if (!response.ok) throw new Error(body.error || `the server answered ${response.status}`);
  return body;
}

function ofServer(first, views) {
  const reach = async (...asked) => {
    try {
      return await fetch(...asked);
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Error("the server does not answer; has 'kernbench web' been stopped?");
    }
  };
  return {
    live: true, run: first, views, madeBy: "",
    has: () => true,
    async get(name, params = {}, signal = undefined) {
      return answered(await reach(`api/${name}?${new URLSearchParams(given(params))}`, { signal }));
    },
    async ask(name, body, signal = undefined) {
      return answered(await reach(`api/${name}`, { method: "POST", signal,
        headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }));
    },
  };
}

// A report has one run and one window inside, so what names them is no part of a question.
function ofFile(data) {
  const keyOf = (name, params) => {
    const key = given(params).filter(([part]) => !IN_WINDOW.includes(part)).map(([part, value]) => `${part}=${value}`).sort().join("&");
    return key ? `${name}?${key}` : name;
  };
  const find = (name, params) => {
    const found = data.answers[keyOf(name, params)];
    if (found === undefined) throw new Error("this file does not hold that; 'kernbench web' can be asked for it");
    if (found.error) throw new Error(found.error);
    return found;
  };
  return {
    live: false, run: data.run, views: data.views, madeBy: data.made_by, compared: "compare" in data.answers,
    questions: Object.keys(data.answers).filter((key) => key.startsWith("ask?question=")).map((key) => key.slice(13)),
    has: (name, params) => keyOf(name, params) in data.answers,
    async get(name, params = {}) { return find(name, params); },
    async ask(name, body) { return find(name, { question: body.question }); },
  };
}

export function source() {
  const inside = document.getElementById("data");
  const page = document.getElementById("page");
  return inside ? ofFile(JSON.parse(inside.textContent)) : ofServer(page.dataset.run, JSON.parse(page.dataset.views));
}
