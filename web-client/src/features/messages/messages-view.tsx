import { Splitter } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useEffect, useMemo } from 'react';
import { useActiveConnection, useActiveProfile } from '../../state/hooks.ts';
import { EmptyConnection } from '../connections/empty-connection.tsx';
import { PublishPanel } from '../publish/publish-panel.tsx';
import { SubscriptionPanel } from '../subscriptions/subscription-panel.tsx';
import { MessageList } from './message-list.ts';
import { MessagesPane } from './messages-pane.tsx';
import classes from './messages-view.module.css';
import { NarrowMessages } from './narrow-messages.tsx';

const SUBSCRIPTIONS_WIDTH = '300px';
const PUBLISH_HEIGHT = '292px';

/** Subscriptions, the messages that come, and the panel to publish. */
export function MessagesView() {
  const connection = useActiveConnection();
  const profile = useActiveProfile();
  const list = useMemo(() => connection && new MessageList(connection.messages), [connection]);
  const isNarrow = useMediaQuery('(max-width: 62em)');
  useEffect(() => list?.attach(), [list]);
  if (connection === undefined || profile === undefined || list === undefined) return <EmptyConnection />;
  if (isNarrow) return <NarrowMessages profile={profile} list={list} />;
  return (
    <Splitter
      className={classes.view}
      withHandle={false}
      lineSize={1}
      handleColor="var(--apus-line)"
      key={profile.id}
    >
      <Splitter.Pane defaultSize={SUBSCRIPTIONS_WIDTH} min="200px" max="480px" className={classes.pane}>
        <SubscriptionPanel profile={profile} />
      </Splitter.Pane>
      <Splitter.Pane defaultSize={100} className={classes.pane}>
        <Splitter
          orientation="vertical"
          className={classes.view}
          withHandle={false}
          lineSize={1}
          handleColor="var(--apus-line)"
        >
          <Splitter.Pane defaultSize={100} className={classes.pane}>
            <MessagesPane profile={profile} list={list} />
          </Splitter.Pane>
          <Splitter.Pane defaultSize={PUBLISH_HEIGHT} min="120px" max="600px" className={classes.pane}>
            <PublishPanel profile={profile} />
          </Splitter.Pane>
        </Splitter>
      </Splitter.Pane>
    </Splitter>
  );
}
