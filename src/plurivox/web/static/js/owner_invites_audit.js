// The owner's pages Invitations and Audit (the log of owners' actions).
import { button, make } from "./dom.js";
import { page, table, when } from "./owner_widgets.js";

export async function invitesPage(owner) {
  const { invites, prolific, mturk } = await owner.read("invites");
  const note = make("input", { id: "note", maxlength: "200" });
  const uses = make("input", { id: "uses", type: "number", min: "1", max: "100000", value: "1" });
  const add = () =>
    owner.write("invites", { note: note.value, uses: Number(uses.value) || 1 }).then(() => owner.show());
  const fields = make(
    "form",
    { class: "card form", onsubmit: (event) => (event.preventDefault(), add()) },
    make("div", { class: "field" }, make("label", { for: "note" }, "Note"), note),
    make("div", { class: "field few" }, make("label", { for: "uses" }, "People"), uses),
    make("button", { class: "button main" }, "Create link"),
  );
  const link = (address) =>
    make("input", {
      class: "link",
      readonly: true,
      value: address,
      "aria-label": "Link",
      onfocus: (event) => event.target.select(),
    });
  const rows = invites.map((one) => [
    one.note || "–",
    link(one.address),
    `${one.used} / ${one.uses}`,
    one.open
      ? button("Close", () => owner.write(`invites/${one.invite}/close`, {}).then(() => owner.show()))
      : "closed",
  ]);
  return page(
    "Invitations",
    null,
    fields,
    table("Invitations", ["Note", "Link", "#Used", ""], rows, { empty: "No invitations yet." }),
    make(
      "div",
      { class: "card pad field" },
      make("label", { for: "prolific" }, "Study address for Prolific"),
      make("input", { id: "prolific", readonly: true, value: prolific }),
      mturk && [
        make("label", { for: "mturk" }, "ExternalURL for MTurk"),
        make("input", { id: "mturk", readonly: true, value: mturk }),
      ],
    ),
  );
}

export async function auditPage(owner) {
  const { lines } = await owner.read("audit");
  return page(
    "Audit",
    null,
    table(
      "Audit",
      ["When", "Who", "What", "Detail"],
      lines.map((one) => [
        when(one.at),
        one.who,
        one.what,
        make(
          "span",
          { class: "small" },
          Object.entries(one.detail)
            .map(([name, value]) => `${name}: ${value}`)
            .join(", "),
        ),
      ]),
    ),
  );
}
