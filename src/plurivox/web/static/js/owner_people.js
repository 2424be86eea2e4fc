// The owner's pages about people: who was left out and why, and what everybody is paid.
import { button, make } from "./dom.js";
import { count, figureOf, page, table, when } from "./owner_parts.js";

const further = (next, to) =>
  next ? make("p", {}, make("a", { class: "button", href: `#/${to}${encodeURIComponent(next)}` }, "More")) : null;

export async function excludedPage(owner, { after }) {
  const query = after ? `&after=${encodeURIComponent(after)}` : "";
  const { exclusions, rules, next } = await owner.read(`exclusions?limit=50${query}`);
  const back = (one) =>
    button(
      "Take back",
      () =>
        confirm(`Let ${one.worker} count again? The answers become extras, and no rule applies any more.`) &&
        owner.write(`exclusions/${one.worker}/lift`, {}).then(() => owner.show()),
      { "aria-label": `Take back: ${one.worker}` },
    );
  const rows = exclusions.map((one) => [
    one.worker,
    make("span", { class: "badge" }, one.rule),
    one.reason,
    when(one.at),
    one.lifted ? `taken back ${when(one.lifted)}` : back(one),
  ]);
  const told = rules.length
    ? `Rules of this study: ${rules.join(", ")}. Answers stay, marked; their slots go to others.`
    : "This study has no rules; name some in [exclude] of its study.toml.";
  return page(
    "Excluded",
    null,
    make("p", { class: "quiet small" }, told),
    table("Excluded", ["Worker", "Rule", "Why", "When", ""], rows),
    further(next, "excluded?after="),
  );
}

export async function payPage(owner, { after }) {
  const query = after ? `&after=${encodeURIComponent(after)}` : "";
  const { lines, currency, total, people, next } = await owner.read(`pay?limit=50${query}`);
  const rows = lines.map((one) => [
    one.worker,
    count(one.answers),
    one.active_minutes,
    one.total_minutes,
    `${one.matched} / ${one.compared}`,
    one.base,
    one.bonus,
    one.total,
    make("span", { class: "small" }, one.reasons.join("; ")),
  ]);
  const figures = make("section", { class: "figures", "aria-label": "In short" }, [
    figureOf(`${total} ${currency}`.trim(), "in all, bonuses too"),
    figureOf(count(people), "people with answers"),
  ]);
  const head = ["Worker", "#Answers", "#Active min", "#Total min", "#Matched", "#Base", "#Bonus", "#Total", "Why"];
  return page(
    "Pay",
    null,
    figures,
    table("Pay", head, rows),
    further(next, "pay?after="),
    make("p", { class: "quiet small" }, "The rules are in [pay] of study.toml; plurivox studio pay writes the file."),
  );
}
