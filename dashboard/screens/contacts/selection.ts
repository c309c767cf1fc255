import { useState } from 'react';
import type { ResponseOf } from '../../api/client.ts';

export type ListedContact = ResponseOf<'listContacts'>['data'][number];

/**
 * The selected contacts: single rows, or all contacts that match the filter, including contacts that are not loaded.
 */
export interface Selection {
  picked: ReadonlyMap<string, ListedContact>;
  all: boolean;
  has: (id: string) => boolean;
  /** Selects or deselects these contacts. */
  toggle: (contacts: ListedContact[], on: boolean) => void;
  pickAll: () => void;
  clear: () => void;
}

interface Picked {
  list: string;
  picked: ReadonlyMap<string, ListedContact>;
  all: boolean;
}

/** Returns the selected contacts of a list. A new value of `list` starts an empty selection. */
export function useSelection(list: string): Selection {
  const [state, setState] = useState<Picked>(createEmptySelection(list));
  const { picked, all } = state.list === list ? state : createEmptySelection(list);
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
    clear: () => setState(createEmptySelection(list)),
  };
}

function createEmptySelection(list: string): Picked {
  return { list, picked: new Map(), all: false };
}
