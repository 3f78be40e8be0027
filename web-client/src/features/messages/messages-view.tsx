import { Splitter } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { Suspense } from 'react';
import { useActiveProfile } from '../../state/hooks.ts';
import { setLayout, useLayout } from '../../state/layout.ts';
import { isRecording } from '../../state/recording-ids.ts';
import { Loading } from '../../ui/loading.tsx';
import { EmptyConnection } from '../connections/empty-connection.tsx';
import { FoldedPublish, PublishPanel } from '../publish/folded-publish.tsx';
import { SubscriptionPanel } from '../subscriptions/subscription-panel.tsx';
import { ConnectionMessages } from './connection-messages.tsx';
import { KeptSplitter } from './kept-splitter.tsx';
import classes from './messages-view.module.css';
import { NarrowMessages } from './narrow-messages.tsx';

const SUBSCRIPTIONS_PX = 264;

/** In a low window the messages come first. */
const LOW_WINDOW_PX = 860;
const PUBLISH_PX = { low: 200, high: 292 } as const;

const SPLITTER = {
  className: classes.view,
  withHandle: false,
  lineSize: 1,
  handleColor: 'var(--apus-line)',
} as const;

/** Subscriptions, the messages that come, and the panel to publish. */
export function MessagesView() {
  const profile = useActiveProfile();
  const isNarrow = useMediaQuery('(max-width: 62em)');
  const isFolded = useLayout(({ isPublishFolded }) => isPublishFolded);
  if (profile === undefined) return <EmptyConnection />;
  if (isNarrow) return <NarrowMessages key={profile.id} profile={profile} />;
  const { id } = profile;
  // A recording has no server: a client can neither subscribe nor publish.
  if (isRecording(id)) return <ConnectionMessages key={id} profile={profile} />;
  const publishPx = window.innerHeight < LOW_WINDOW_PX ? PUBLISH_PX.low : PUBLISH_PX.high;
  return (
    <KeptSplitter
      {...SPLITTER}
      kept="subscriptionsPx"
      usualPx={SUBSCRIPTIONS_PX}
      place={0}
      label="Width of the subscriptions"
    >
      <Splitter.Pane defaultSize={`${SUBSCRIPTIONS_PX}px`} min="200px" max="480px" className={classes.pane}>
        <SubscriptionPanel key={id} profile={profile} />
      </Splitter.Pane>
      <Splitter.Pane defaultSize={100} className={classes.pane}>
        <KeptSplitter
          {...SPLITTER}
          kept="publishPx"
          usualPx={publishPx}
          label="Height of the publish panel"
          place={isFolded ? undefined : 1}
          orientation="vertical"
        >
          <Splitter.Pane defaultSize={100} className={classes.pane}>
            <ConnectionMessages key={id} profile={profile} />
          </Splitter.Pane>
          {!isFolded && (
            <Splitter.Pane defaultSize={`${publishPx}px`} min="120px" max="600px" className={classes.pane}>
              <Suspense fallback={<Loading />}>
                <PublishPanel key={id} profile={profile} fold={() => setLayout({ isPublishFolded: true })} />
              </Suspense>
            </Splitter.Pane>
          )}
        </KeptSplitter>
        {isFolded && <FoldedPublish profile={profile} />}
      </Splitter.Pane>
    </KeptSplitter>
  );
}
