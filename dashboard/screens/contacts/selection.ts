import { useState } from 'react';
import type { ResponseOf } from '../../api/client.ts';

export type Contact = ResponseOf<'listContacts'>['data'][number];

/** Contacts that are picked in the list: one by one, or all that the list means, shown or not. */
export interface Selection {
  picked: ReadonlyMap<string, Contact>;
  all: boolean;
  has: (id: string) => boolean;
  /** Picks these, or no longer. */
  toggle: (contacts: Contact[], on: boolean) => void;
  pickAll: () => void;
  clear: () => void;
}

interface Picked {
  list: string;
  picked: ReadonlyMap<string, Contact>;
  all: boolean;
}

/** The selection of a list. `list` identifies it; another list starts with an empty selection. */
export function useSelection(list: string): Selection {
  const [state, setState] = useState<Picked>(nobody(list));
  const { picked, all } = state.list === list ? state : nobody(list);
  return {
    picked,
    all,
    has: (id) => all || picked.has(id),
    toggle: (contacts, on) =>
      setState((before) => {
        const next = new Map(before.list === list ? before.picked : []);
        for (const contact of contacts) {
          if (on) next.set(contact.id, contact);
          else next.delete(contact.id);
        }
        return { list, picked: next, all: false };
      }),
    pickAll: () => setState({ list, picked: new Map(), all: true }),
    clear: () => setState(nobody(list)),
  };
}

function nobody(list: string): Picked {
  return { list, picked: new Map(), all: false };
}
