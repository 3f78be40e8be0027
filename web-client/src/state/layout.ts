import { create } from 'zustand';
import { membersOf } from '../engine/read-members.ts';

/** How its user has arranged the page. It stays in this browser. */
export interface Layout {
  /** Whether the panel to publish is only a bar. */
  readonly isPublishFolded: boolean;
  /** The columns of the message table, by their identifiers; undefined until the user has chosen. */
  readonly messageColumns: readonly string[] | undefined;
  /** The connections whose messages stand side by side, from the left; empty for the active one alone. */
  readonly besideIds: readonly string[];
}

const KEY = 'apus.layout';

/** More than this is not what this page has written. */
const LIST_MAX = 100;

export const useLayout = create<Layout>(() => readLayout(stored()));

export function setLayout(changes: Partial<Layout>): void {
  useLayout.setState(changes);
  localStorage.setItem(KEY, JSON.stringify(useLayout.getState()));
}

/** @param read what was stored, perhaps by another version of the page */
export function readLayout(read: unknown): Layout {
  const { isPublishFolded, messageColumns, besideIds } = membersOf(read) ?? {};
  return {
    isPublishFolded: isPublishFolded === true,
    messageColumns: texts(messageColumns),
    besideIds: texts(besideIds) ?? [],
  };
}

function texts(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.filter((entry) => typeof entry === 'string').slice(0, LIST_MAX);
}

function stored(): unknown {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? 'null');
  } catch {
    // Somebody else has written there.
    return null;
  }
}
