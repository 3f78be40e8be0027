import { create } from 'zustand';
import { integer, membersOf } from '../engine/read-members.ts';
import { readStored, writeStored } from './stored.ts';

/** The user's arrangement of the page. It stays in this browser. */
export interface Layout {
  /** Whether the panel to publish is only a bar, as it is until the user opens it. */
  readonly isPublishFolded: boolean;
  /** The columns of the message table, by their identifiers; undefined until the user has chosen. */
  readonly messageColumns: readonly string[] | undefined;
  /** The sizes of panes that the user has dragged; undefined for the usual ones. */
  readonly subscriptionsPx: number | undefined;
  readonly publishPx: number | undefined;
  /** Whether properties, request and burst are open in the panel to publish. */
  readonly areSectionsOpen: boolean;
  /** The packets and frames that the timelines leave out. */
  readonly hidesDelivery: boolean;
  readonly hidesPings: boolean;
  readonly hidesEmptyFrames: boolean;
}

const KEY = 'apus.layout';

/** The page itself never writes more than this. */
const LIST_MAX = 100;
const PANE_PX_MAX = 10_000;

export const useLayout = create<Layout>(() => readLayout(readStored(KEY)));

export function setLayout(changes: Partial<Layout>): void {
  useLayout.setState(changes);
  writeStored(KEY, useLayout.getState());
}

/** @param read the stored value, perhaps from another version of the page */
export function readLayout(read: unknown): Layout {
  const members = membersOf(read) ?? {};
  return {
    isPublishFolded: members.isPublishFolded !== false,
    messageColumns: texts(members.messageColumns),
    subscriptionsPx: integer(members.subscriptionsPx, 1, PANE_PX_MAX),
    publishPx: integer(members.publishPx, 1, PANE_PX_MAX),
    areSectionsOpen: members.areSectionsOpen === true,
    hidesDelivery: members.hidesDelivery === true,
    hidesPings: members.hidesPings === true,
    hidesEmptyFrames: members.hidesEmptyFrames === true,
  };
}

function texts(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.filter((entry) => typeof entry === 'string').slice(0, LIST_MAX);
}
