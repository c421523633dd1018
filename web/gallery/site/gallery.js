// Search and topics of the gallery. The address keeps them, so that a choice can be linked.
const $ = (id) => document.getElementById(id);
const cards = [...document.querySelectorAll(".cards > li")];

function filter() {
  const words = $("search").value.toLowerCase().split(/\s+/);
  const topic = $("topic").value;
  for (const card of cards) {
    const text = card.textContent.toLowerCase();
    const about = topic === "" || card.dataset.topics.split(",").includes(topic);
    card.hidden = !about || !words.every((word) => text.includes(word));
  }
  const shown = cards.filter((card) => !card.hidden).length;
  $("count").textContent = shown === cards.length ? `${shown} models` : `${shown} of ${cards.length} models`;
}

function remember() {
  const asked = { search: $("search").value, topic: $("topic").value };
  const given = Object.entries(asked).filter(([, value]) => value !== "");
  history.replaceState(null, "", given.length > 0 ? `#${new URLSearchParams(given)}` : location.pathname);
  filter();
}

const kept = new URLSearchParams(location.hash.slice(1));
$("search").value = kept.get("search") ?? "";
$("topic").value = kept.get("topic") ?? "";
if ($("topic").selectedIndex < 0) $("topic").value = "";
$("filter").addEventListener("input", remember);
$("filter").addEventListener("submit", (event) => event.preventDefault());
filter();
