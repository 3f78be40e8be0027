import { Checkbox, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import type { ConnectionProfile } from '../../engine/types.ts';
import { t } from '../../i18n/index.ts';
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
        {t('publish.properties.none')}
      </Text>
    );
  }
  return (
    <Stack gap="xs">
      <SimpleGrid cols={2} spacing="xs" verticalSpacing="xs">
        <TextInput
          label={t('publish.properties.contentType')}
          placeholder="application/json"
          value={properties.contentType}
          onChange={(event) => set({ contentType: event.currentTarget.value })}
        />
        <OptionalNumberInput
          label={t('publish.properties.expiry')}
          suffix={` ${t('publish.properties.seconds')}`}
          max={0xffff_ffff}
          value={properties.messageExpiryIntervalSeconds}
          onChange={(messageExpiryIntervalSeconds) => set({ messageExpiryIntervalSeconds })}
        />
        <TextInput
          label={t('publish.properties.responseTopic')}
          spellCheck={false}
          value={properties.responseTopic}
          onChange={(event) => set({ responseTopic: event.currentTarget.value })}
        />
        <TextInput
          label={t('publish.properties.correlation')}
          placeholder={t('publish.properties.correlationHint')}
          spellCheck={false}
          value={properties.correlationText}
          onChange={(event) => set({ correlationText: event.currentTarget.value })}
        />
        <OptionalNumberInput
          label={t('publish.properties.alias')}
          min={1}
          max={0xffff}
          value={properties.topicAlias}
          onChange={(topicAlias) => set({ topicAlias })}
        />
        <Checkbox
          mt={26}
          label={t('publish.properties.payloadFormat')}
          checked={properties.payloadFormatIndicator}
          onChange={(event) => set({ payloadFormatIndicator: event.currentTarget.checked })}
        />
      </SimpleGrid>
      <UserPropertiesInput
        label={t('publish.properties.user')}
        value={properties.userProperties}
        onChange={(userProperties) => set({ userProperties })}
      />
    </Stack>
  );
}
