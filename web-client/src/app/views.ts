import { IconArrowsExchange, IconHome, IconList, IconPlugConnected } from '@tabler/icons-react';
import { type ComponentType, type LazyExoticComponent, lazy } from 'react';

/** What a view's icon takes; every icon of `@tabler/icons-react` fits. */
export type IconComponent = ComponentType<{
  readonly size?: number | string;
  readonly stroke?: number | string;
}>;

/** A page of the client. It fills the main area, scrolls by itself and finds what it shows through the hooks of `state`. */
export interface View {
  /** Its place in the address (`#/messages`) and the end of its title's key, `app.views.<id>`. */
  readonly id: ViewId;
  readonly icon: IconComponent;
  readonly Component: LazyExoticComponent<ComponentType>;
}

export type ViewId = 'start' | 'messages' | 'packets' | 'connection';

/** In the order of the navigation. To add a view: its id above, a line here, its title in `i18n/en/app.ts`. */
export const VIEWS: readonly View[] = [
  {
    id: 'start',
    icon: IconHome,
    Component: view(() => import('../features/start/start-view.tsx'), 'StartView'),
  },
  {
    id: 'messages',
    icon: IconList,
    Component: view(() => import('../features/messages/messages-view.tsx'), 'MessagesView'),
  },
  {
    id: 'packets',
    icon: IconArrowsExchange,
    Component: view(() => import('../features/packets/packets-view.tsx'), 'PacketsView'),
  },
  {
    id: 'connection',
    icon: IconPlugConnected,
    Component: view(() => import('../features/connections/connection-view.tsx'), 'ConnectionView'),
  },
];

export function isViewId(id: string): id is ViewId {
  return VIEWS.some((view) => view.id === id);
}

/** Loads a view when it is first opened. */
function view<Name extends string>(
  load: () => Promise<Record<Name, ComponentType>>,
  name: Name,
): LazyExoticComponent<ComponentType> {
  return lazy(async () => ({ default: (await load())[name] }));
}
