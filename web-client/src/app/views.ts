import {
  IconArrowsExchange,
  IconBinaryTree2,
  IconChartLine,
  IconHome,
  IconList,
  IconUsers,
} from '@tabler/icons-react';
import { type ComponentType, type LazyExoticComponent, lazy } from 'react';
import type { ViewId } from '../state/view-ids.ts';

/** The component type of a view's icon; every icon of `@tabler/icons-react` fits. */
export type IconComponent = ComponentType<{
  readonly size?: number | string;
  readonly stroke?: number | string;
}>;

/** A page of the client. It fills the main area, scrolls by itself and reads its data through the hooks of `state`. */
export interface View {
  /** Its part of the address (`#/messages`). */
  readonly id: ViewId;
  readonly icon: IconComponent;
  readonly Component: LazyExoticComponent<ComponentType>;
  /** Fetches the view's code, if it is not loaded yet. */
  readonly load: () => Promise<unknown>;
}

/** To add a view: its id in `state/view-ids.ts`, an entry here in the same order, its title in `strings.ts`. */
export const VIEWS: readonly View[] = [
  {
    id: 'start',
    icon: IconHome,
    ...view(() => import('../features/start/start-view.tsx'), 'StartView'),
  },
  {
    id: 'messages',
    icon: IconList,
    ...view(() => import('../features/messages/messages-view.tsx'), 'MessagesView'),
  },
  {
    id: 'tree',
    icon: IconBinaryTree2,
    ...view(() => import('../features/tree/tree-view.tsx'), 'TreeView'),
  },
  {
    id: 'charts',
    icon: IconChartLine,
    ...view(() => import('../features/charts/charts-view.tsx'), 'ChartsView'),
  },
  {
    id: 'wire',
    icon: IconArrowsExchange,
    ...view(() => import('../features/wire/wire-view.tsx'), 'WireView'),
  },
  {
    id: 'admin',
    icon: IconUsers,
    ...view(() => import('../features/admin/admin-view.tsx'), 'AdminView'),
  },
];

/** Code that views load on demand, and the fonts: until then the system's fonts are shown. */
const PARTS: readonly (() => Promise<unknown>)[] = [
  () => import('./fonts.ts'),
  () => import('../features/connections/sign-in.tsx'),
  () => import('../features/connections/token-notice.tsx'),
  () => import('../features/messages/query-matcher.ts'),
  async () => fetch((await import('../features/messages/message-search.ts')).searchWorkerUrl),
  () => import('../features/messages/message-details.tsx'),
  () => import('../features/publish/publish-panel.tsx'),
  () => import('../features/publish/properties-section.tsx'),
  () => import('../features/subscriptions/subscription-dialog.tsx'),
  () => import('../ui/bottom-drawer.tsx'),
  () => import('../ui/code-editor.tsx'),
];

/** How long after its first message the page fetches the code of the other views. */
const PRELOAD_DELAY_MS = 500;

/** How long the page waits for a first message before it fetches them anyway. */
const FIRST_MESSAGE_WAIT_MS = 5_000;

/**
 * Fetches the code of all views and dialogs, so that they open even if their server is gone. Returns a function that
 * cancels this.
 */
export function preload(dialogs: readonly (() => Promise<unknown>)[], isMessageShown: boolean): () => void {
  const timer = setTimeout(
    () => {
      // A view that fails to load now is fetched again when it is opened.
      for (const load of [...VIEWS.map((view) => view.load), ...PARTS, ...dialogs])
        void load().catch(() => {});
    },
    isMessageShown ? PRELOAD_DELAY_MS : FIRST_MESSAGE_WAIT_MS,
  );
  return () => clearTimeout(timer);
}

/** Loads a view when it is first opened. */
function view<Name extends string>(
  load: () => Promise<Record<Name, ComponentType>>,
  name: Name,
): Pick<View, 'Component' | 'load'> {
  return { load, Component: lazy(async () => ({ default: (await load())[name] })) };
}
