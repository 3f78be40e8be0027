import { SegmentedControl } from '@mantine/core';
import { Suspense, useEffect, useState } from 'react';
import type { ConnectionProfile } from '../../engine/types.ts';
import { isRecording } from '../../state/recording-ids.ts';
import { Loading } from '../../ui/loading.tsx';
import { provideShortcut, runNextShortcut } from '../../ui/shortcut-actions.ts';
import { PublishPanel } from '../publish/folded-publish.tsx';
import { SubscriptionPanel } from '../subscriptions/subscription-panel.tsx';
import { ConnectionMessages } from './connection-messages.tsx';
import classes from './messages-view.module.css';
import { messagesWords } from './strings.ts';

const PANES = ['subscriptions', 'messages', 'publish'] as const;

/** The part in which an action moves the focus: its key opens that part first. */
const PANE_OF = { subscribe: 'subscriptions', filter: 'messages', publish: 'publish' } as const;
const ACTIONS = ['subscribe', 'filter', 'publish'] as const;

interface NarrowMessagesProps {
  readonly profile: ConnectionProfile;
}

/** On a phone: one part at a time. */
export function NarrowMessages({ profile }: NarrowMessagesProps) {
  const [pane, setPane] = useState<(typeof PANES)[number]>('messages');
  useEffect(() => {
    const stops = ACTIONS.filter((action) => PANE_OF[action] !== pane).map((action) =>
      provideShortcut(action, () => {
        setPane(PANE_OF[action]);
        runNextShortcut(action);
      }),
    );
    return () => {
      for (const stop of stops) stop();
    };
  }, [pane]);
  return (
    <div className={classes.narrow}>
      <div className={classes.tabs} hidden={isRecording(profile.id)}>
        <SegmentedControl
          fullWidth
          aria-label="Part of the view"
          data={PANES.map((value) => ({ value, label: messagesWords.panes[value] }))}
          value={pane}
          onChange={setPane}
        />
      </div>
      {pane === 'subscriptions' && <SubscriptionPanel profile={profile} />}
      {pane === 'messages' && <ConnectionMessages profile={profile} />}
      {pane === 'publish' && (
        <Suspense fallback={<Loading />}>
          <PublishPanel profile={profile} />
        </Suspense>
      )}
    </div>
  );
}
