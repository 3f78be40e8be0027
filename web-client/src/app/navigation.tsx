import { NavLink, ScrollArea } from '@mantine/core';
import { IconBook2 } from '@tabler/icons-react';
import { ConnectionList } from '../features/connections/connection-list.tsx';
import { useStore } from '../state/store.ts';
import classes from './navigation.module.css';
import { appWords } from './strings.ts';
import { VIEWS } from './views.ts';

/** The connections, and the views of the one that is shown. */
export function Navigation({ close }: { readonly close: () => void }) {
  const viewId = useStore((state) => state.viewId);
  const hasPortal = useStore(({ site }) => site.hasPortal);
  return (
    <ScrollArea
      className={classes.scroll}
      type="auto"
      scrollbars="y"
      scrollbarSize={8}
      offsetScrollbars="present"
    >
      <ConnectionList onSelect={close} />
      <h2 className={classes.heading}>Views</h2>
      <ul className={classes.list}>
        {VIEWS.map(({ id, icon: Icon }) => (
          <li key={id}>
            <NavLink
              href={`#/${id}`}
              label={appWords.views[id]}
              leftSection={<Icon size={18} stroke={1.5} />}
              active={id === viewId}
              aria-current={id === viewId ? 'page' : undefined}
              className={classes.link}
              onClick={close}
            />
          </li>
        ))}
        {hasPortal && (
          <li>
            <NavLink
              href="portal/"
              label="Topics, described"
              leftSection={<IconBook2 size={18} stroke={1.5} />}
              className={classes.link}
            />
          </li>
        )}
      </ul>
    </ScrollArea>
  );
}
