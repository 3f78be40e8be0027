import { Title } from '@mantine/core';
import { useActiveProfile } from '../../state/hooks.ts';
import { EmptyConnection } from '../connections/empty-connection.tsx';
import { DemoCard } from './demo-card.tsx';
import classes from './start-view.module.css';

/** The first minute: an example of MQTT, live, and the code for it in the user's own app. */
export function StartView() {
  const profile = useActiveProfile();
  return (
    <div className={classes.view}>
      <div className={classes.column}>
        {profile === undefined ? (
          <EmptyConnection />
        ) : (
          <>
            <Title order={2} className={classes.title}>
              See it work
            </Title>
            <DemoCard key={profile.id} profile={profile} />
          </>
        )}
      </div>
    </div>
  );
}
