import { marked } from "marked";

const PAGE = { "content-type": "text/html; charset=utf-8" };

/** POST Markdown, get HTML: `?title=` makes it a whole page. */
export default async function handler(request) {
  if (request.method !== "POST") {
    return new Response("POST some Markdown.\n", { status: 405, headers: { allow: "POST" } });
  }
  const html = marked.parse(await request.text());
  const title = new URL(request.url).searchParams.get("title");
  return new Response(title ? page(title, html) : html, { headers: PAGE });
}

function page(title, html) {
  const escaped = title.replace(/[&<]/g, (letter) => ({ "&": "&amp;", "<": "&lt;" })[letter]);
  return `<!doctype html>\n<title>${escaped}</title>\n${html}`;
}
