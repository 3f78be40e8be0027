import { useMediaQuery } from '@mantine/hooks';
import { lazy, Suspense, useEffect, useMemo } from 'react';
import type { ConnectionProfile, LoggedMessage } from '../../engine/types.ts';
import { Loading } from '../../ui/loading.tsx';
import { compileFilter } from './message-filter.ts';
import type { MessageList } from './message-list.ts';
import { MessageTable } from './message-table.tsx';
import { MessageToolbar } from './message-toolbar.tsx';
import { setMessagesState, useMessagesState } from './messages-store.ts';
import classes from './messages-view.module.css';
import { useSearch } from './use-search.ts';

const MessageDetails = lazy(async () => ({
  default: (await import('./message-details.tsx')).MessageDetails,
}));

const BottomDrawer = lazy(async () => ({
  default: (await import('../../ui/bottom-drawer.tsx')).BottomDrawer,
}));

interface MessagesPaneProps {
  readonly profile: ConnectionProfile;
  readonly list: MessageList;
}

/** The table with its tools, and the details of the message that is selected. */
export function MessagesPane({ profile, list }: MessagesPaneProps) {
  const { filter, selected } = useMessagesState(profile.id);
  const search = useSearch(filter.kind !== 'text');
  const compiled = useMemo(() => compileFilter(filter, search?.checkJsonPath), [filter, search]);
  const isPhone = useMediaQuery('(max-width: 62em)');
  useEffect(() => {
    // An invalid query leaves the list unchanged.
    if (compiled.problem !== undefined) return;
    const { predicate, slow } = compiled;
    // Until the search is loaded, nothing fits.
    if (slow !== undefined && search === undefined) list.setFilter(() => false);
    else list.setFilter(predicate, slow && search?.start(slow));
  }, [list, compiled, search]);
  const select = (message: LoggedMessage | undefined): void =>
    setMessagesState(profile.id, { selected: message });
  const details = selected !== undefined && (
    <Suspense fallback={<Loading />}>
      <MessageDetails
        key={selected.sequence}
        profile={profile}
        message={selected}
        close={() => select(undefined)}
      />
    </Suspense>
  );
  return (
    <section className={classes.center} aria-label="Messages">
      <MessageToolbar profile={profile} list={list} filter={filter} problem={compiled.problem} />
      <div className={classes.body}>
        <MessageTable
          profile={profile}
          list={list}
          selected={selected}
          onSelect={select}
          isFiltered={compiled.predicate !== undefined || compiled.slow !== undefined}
          problem={compiled.problem}
        />
        {details !== false && !isPhone && (
          <aside className={classes.details} aria-label="Message">
            {details}
          </aside>
        )}
        {details !== false && isPhone && (
          <Suspense>
            <BottomDrawer label="Message" onClose={() => select(undefined)}>
              {details}
            </BottomDrawer>
          </Suspense>
        )}
      </div>
    </section>
  );
}
