import { create } from 'zustand';
import { integer, membersOf } from '../engine/read-members.ts';
import { readStored, writeStored } from './stored.ts';

/** The user's arrangement of the page. It stays in this browser. */
export interface Layout {
  /** Whether the panel to publish is only a bar, as it is until the user opens it. */
  readonly isPublishFolded: boolean;
  /** The sizes of panes that the user has dragged; undefined for the usual ones. */
  readonly subscriptionsPx: number | undefined;
  readonly publishPx: number | undefined;
  /** Whether properties and request are open in the panel to publish. */
  readonly areSectionsOpen: boolean;
  /** The packets and frames that the timelines leave out. */
  readonly hidesDelivery: boolean;
  readonly hidesPings: boolean;
  readonly hidesEmptyFrames: boolean;
}

const KEY = 'apus.layout';

/** The page itself never writes more than this. */
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
    subscriptionsPx: integer(members.subscriptionsPx, 1, PANE_PX_MAX),
    publishPx: integer(members.publishPx, 1, PANE_PX_MAX),
    areSectionsOpen: members.areSectionsOpen === true,
    hidesDelivery: members.hidesDelivery === true,
    hidesPings: members.hidesPings === true,
    hidesEmptyFrames: members.hidesEmptyFrames === true,
  };
}
