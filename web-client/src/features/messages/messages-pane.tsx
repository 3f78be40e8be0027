import { useMediaQuery } from '@mantine/hooks';
import { lazy, Suspense, useEffect, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { ConnectionProfile, LoggedMessage } from '../../engine/types.ts';
import { Loading } from '../../ui/loading.tsx';
import { compileFilter } from './message-filter.ts';
import type { MessageList } from './message-list.ts';
import { MessageTable } from './message-table.tsx';
import { MessageToolbar } from './message-toolbar.tsx';
import { setMessagesState, useMessagesState } from './messages-store.ts';
import classes from './messages-view.module.css';
import { useJsonPath } from './use-json-path.ts';

const MessageDetails = lazy(async () => ({
  default: (await import('./message-details.tsx')).MessageDetails,
}));

const BottomDrawer = lazy(async () => ({
  default: (await import('../../ui/bottom-drawer.tsx')).BottomDrawer,
}));

interface MessagesPaneProps {
  readonly profile: ConnectionProfile;
  readonly list: MessageList;
  /** Whether others are beside it: then its parts are named after its connection. */
  readonly isAmongOthers?: boolean;
}

/** The table with its tools, and the details of the message that is selected. */
export function MessagesPane({ profile, list, isAmongOthers = false }: MessagesPaneProps) {
  const { t } = useTranslation();
  const named = (what: string): string =>
    isAmongOthers ? t('messages.ofConnection', { what, name: profile.name }) : what;
  const { filter, selected } = useMessagesState(profile.id);
  const jsonPath = useJsonPath(filter.kind === 'jsonpath');
  const compiled = useMemo(() => compileFilter(filter, jsonPath), [filter, jsonPath]);
  const isPhone = useMediaQuery('(max-width: 62em)');
  useEffect(() => {
    // An invalid query leaves the list unchanged.
    if (compiled.problem === undefined) list.setFilter(compiled.predicate);
  }, [list, compiled]);
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
    <section className={classes.center} aria-label={named(t('messages.title'))}>
      <MessageToolbar
        profile={profile}
        list={list}
        filter={filter}
        problem={compiled.problem}
        label={named(t('messages.filter'))}
      />
      <div className={classes.body}>
        <MessageTable
          profile={profile}
          list={list}
          label={named(t('messages.table'))}
          selected={selected}
          onSelect={select}
          isFiltered={compiled.predicate !== undefined}
          problem={compiled.problem}
        />
        {details !== false && !isPhone && (
          <aside className={classes.details} aria-label={named(t('messages.details.title'))}>
            {details}
          </aside>
        )}
        {details !== false && isPhone && (
          <Suspense>
            <BottomDrawer label={t('messages.details.title')} onClose={() => select(undefined)}>
              {details}
            </BottomDrawer>
          </Suspense>
        )}
      </div>
    </section>
  );
}
