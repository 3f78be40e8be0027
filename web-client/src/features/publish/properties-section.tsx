import { Checkbox, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import type { ConnectionProfile } from '../../engine/types.ts';
import type { Draft, DraftProperties } from '../../state/draft.ts';
import { OptionalNumberInput } from '../../ui/optional-number-input.tsx';
import { UserPropertiesInput } from '../../ui/user-properties-input.tsx';
import { setDraft } from './publish-store.ts';

interface PropertiesSectionProps {
  readonly profile: ConnectionProfile;
  readonly draft: Draft;
}

/** The properties of PUBLISH. */
export function PropertiesSection({ profile, draft }: PropertiesSectionProps) {
  const { properties } = draft;
  const set = (changes: Partial<DraftProperties>): void =>
    setDraft(profile.id, { properties: { ...properties, ...changes } });
  if (profile.protocolVersion !== 5) {
    return (
      <Text size="xs" c="dimmed">
        MQTT 3.1.1 has no properties.
      </Text>
    );
  }
  return (
    <Stack gap="xs">
      <SimpleGrid cols={2} spacing="xs" verticalSpacing="xs">
        <TextInput
          label="Content type"
          placeholder="application/json"
          value={properties.contentType}
          onChange={(event) => set({ contentType: event.currentTarget.value })}
        />
        <OptionalNumberInput
          label="Message expiry interval"
          suffix=" s"
          max={0xffff_ffff}
          value={properties.messageExpiryIntervalSeconds}
          onChange={(messageExpiryIntervalSeconds) => set({ messageExpiryIntervalSeconds })}
        />
        <TextInput
          label="Response topic"
          spellCheck={false}
          value={properties.responseTopic}
          onChange={(event) => set({ responseTopic: event.currentTarget.value })}
        />
        <TextInput
          label="Correlation data"
          placeholder="Text, or bytes as 0x0aff"
          spellCheck={false}
          value={properties.correlationText}
          onChange={(event) => set({ correlationText: event.currentTarget.value })}
        />
        <OptionalNumberInput
          label="Topic alias"
          min={1}
          max={0xffff}
          value={properties.topicAlias}
          onChange={(topicAlias) => set({ topicAlias })}
        />
        <Checkbox
          mt={26}
          label="The payload is UTF-8 text"
          checked={properties.payloadFormatIndicator}
          onChange={(event) => set({ payloadFormatIndicator: event.currentTarget.checked })}
        />
      </SimpleGrid>
      <UserPropertiesInput
        label="User properties"
        value={properties.userProperties}
        onChange={(userProperties) => set({ userProperties })}
      />
    </Stack>
  );
}
