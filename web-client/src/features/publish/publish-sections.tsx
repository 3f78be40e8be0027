import { Tabs } from '@mantine/core';
import type { ConnectionProfile } from '../../engine/types.ts';
import type { Draft } from '../../state/draft.ts';
import { PropertiesSection } from './properties-section.tsx';
import classes from './publish-panel.module.css';
import { RequestSection } from './request-section.tsx';

interface PublishSectionsProps {
  readonly profile: ConnectionProfile;
  readonly draft: Draft;
}

/** Settings that most messages do not need: properties and request. */
export function PublishSections({ profile, draft }: PublishSectionsProps) {
  return (
    <div className={classes.sections}>
      <Tabs defaultValue="properties" keepMounted>
        <Tabs.List mb="xs" aria-label="More settings">
          <Tabs.Tab value="properties" px="xs" py={4} fz="xs">
            Properties
          </Tabs.Tab>
          <Tabs.Tab value="request" px="xs" py={4} fz="xs">
            Request and response
          </Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="properties">
          <PropertiesSection profile={profile} draft={draft} />
        </Tabs.Panel>
        <Tabs.Panel value="request">
          <RequestSection profile={profile} draft={draft} />
        </Tabs.Panel>
      </Tabs>
    </div>
  );
}
