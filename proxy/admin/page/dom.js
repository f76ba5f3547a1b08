// SPDX-License-Identifier: Apache-2.0
// Building and updating elements. Text always goes in as text: names and messages come from peers.

// el('p', {class: 'x', text: 'y'}, child...). Attributes that are null or false are left out.
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === 'text') node.textContent = value;
    else if (value !== null && value !== false) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

export const byId = (id) => document.getElementById(id);

// Touches the document only if something changes, so that a selection in it survives.
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// Null takes the attribute away.
export function setAttribute(node, name, value) {
  if (value === null) node.removeAttribute(name);
  else if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

// Keeps the children of `container` in step with items: `create(item)` makes a {node, update}, and
// `update(item)` is called on each with its item. A child that stays is neither built again nor,
// unless the order changes, moved: focus, selection and unfolded parts survive.
export class KeyedList {
  #container;
  #keyOf;
  #create;
  #entries = new Map();

  constructor(container, keyOf, create) {
    this.#container = container;
    this.#keyOf = keyOf;
    this.#create = create;
  }

  update(items) {
    const entries = new Map();
    for (const item of items) {
      const key = this.#unused(this.#keyOf(item), entries);
      entries.set(key, this.#entries.get(key) ?? this.#create(item));
      entries.get(key).update?.(item);
    }
    for (const [key, {node}] of this.#entries) {
      if (!entries.has(key)) node.remove();
    }
    const focused = document.activeElement;
    let next = this.#container.firstChild;
    for (const {node} of entries.values()) {
      if (node === next) next = next.nextSibling;
      else this.#container.insertBefore(node, next);
    }
    // Browsers take the focus away from an element that is moved.
    if (this.#container.contains(focused)) focused.focus({preventScroll: true});
    this.#entries = entries;
  }

  #unused(key, entries) {
    let unique = key;
    for (let n = 2; entries.has(unique); ++n) unique = `${key}#${n}`;
    return unique;
  }
}

// Definition lists: facts as pairs of a name and either a text or a node.
export class Facts {
  node = el('dl', {class: 'facts-list'});
  #list = new KeyedList(this.node, ([name]) => name, ([name]) => {
    const value = el('dd');
    return {
      node: el('div', {}, el('dt', {text: name}), value),
      update([, fact]) {
        if (typeof fact === 'string') setText(value, fact);
        else if (value.firstChild !== fact) value.replaceChildren(fact);
      },
    };
  });

  // Pairs without a value are left out.
  update(pairs) {
    this.#list.update(pairs.filter(([, fact]) => fact));
  }
}
