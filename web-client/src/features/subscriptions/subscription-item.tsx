import { Group, Switch, Tooltip, UnstyledButton } from '@mantine/core';
import { IconPencil, IconTrash } from '@tabler/icons-react';
import type { Subscription, SubscriptionState } from '../../engine/types.ts';
import { fill, formatCount, formatRate } from '../../ui/format.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { troubleSentence, troubleWords } from '../../ui/trouble.ts';
import { visibleText } from '../../ui/visible-text.ts';
import { setFilter, useMessagesState } from '../messages/messages-store.ts';
import { conditionOf } from './condition.ts';
import { subscriptionsWords } from './strings.ts';
import classes from './subscription-panel.module.css';

interface SubscriptionItemProps {
  readonly connectionId: string;
  readonly subscription: Subscription;
  readonly state: SubscriptionState | undefined;
  readonly onChange: (subscription: Subscription) => void;
  readonly onEdit: () => void;
  readonly onRemove: () => void;
}

export function SubscriptionItem(props: SubscriptionItemProps) {
  const { connectionId, subscription, state, onChange, onEdit, onRemove } = props;
  const { filter, alias, color, enabled } = subscription;
  const { subscriptionId } = useMessagesState(connectionId).filter;
  const isFiltering = subscriptionId === subscription.id;
  return (
    <div
      className={classes.item}
      style={{ borderInlineStartColor: `var(--mantine-color-${color}-6)` }}
      data-filtering={isFiltering || undefined}
      data-off={!enabled || undefined}
    >
      <Group gap={2} wrap="nowrap">
        <Tooltip label={visibleText(filter)} openDelay={600}>
          <UnstyledButton
            className={classes.name}
            aria-label={`${alias === '' ? filter : alias}: show only its messages`}
            aria-pressed={isFiltering}
            onClick={() =>
              setFilter(connectionId, { subscriptionId: isFiltering ? undefined : subscription.id })
            }
          >
            {visibleText(alias === '' ? filter : alias)}
          </UnstyledButton>
        </Tooltip>
        <Switch
          size="xs"
          aria-label={`Subscribed to ${filter}`}
          checked={enabled}
          onChange={(event) => onChange({ ...subscription, enabled: event.currentTarget.checked })}
        />
        <IconButton size={24} label={`Edit ${filter}`} onClick={onEdit}>
          <IconPencil size={14} stroke={1.5} />
        </IconButton>
        <IconButton size={24} label={`Unsubscribe and remove ${filter}`} onClick={onRemove}>
          <IconTrash size={14} stroke={1.5} />
        </IconButton>
      </Group>
      <SubscriptionFacts subscription={subscription} state={state} />
    </div>
  );
}

function SubscriptionFacts({ subscription, state }: Pick<SubscriptionItemProps, 'subscription' | 'state'>) {
  if (state === undefined) {
    return <div className={classes.facts}>{subscription.enabled ? 'waiting …' : 'off'}</div>;
  }
  const { status, grantedQos = 0, trouble, isWhole, messages, messagesPerSecond } = state;
  const said = trouble && troubleWords(trouble);
  // A reading has QoS 0 and no queue: it goes on from its position.
  const condition = conditionOf(subscription.userProperties);
  const isLower = status === 'granted' && grantedQos < subscription.qos && isWhole === undefined;
  return (
    <div className={classes.facts}>
      {isLower ? (
        <span className={classes.warn}>{`Granted QoS ${grantedQos} of ${subscription.qos}`}</span>
      ) : (
        <span className={status === 'refused' ? classes.warn : undefined}>
          {fill(subscriptionsWords.status[status], { qos: grantedQos })}
        </span>
      )}
      {isWhole !== undefined && (
        <span className={isWhole ? undefined : classes.warn}>
          {isWhole ? 'stream, whole' : 'stream, messages may be missing'}
        </span>
      )}
      {subscription.alias !== '' && <span>{visibleText(subscription.filter)}</span>}
      {condition !== '' && <span>{visibleText(`where ${condition}`)}</span>}
      {subscription.filter.startsWith('$share/') && <span>shared</span>}
      {messages > 0 && <span>{`${formatCount(messages)} received`}</span>}
      {messagesPerSecond > 0 && <span>{`${formatRate(messagesPerSecond)}/s`}</span>}
      {said !== undefined && (
        <span className={classes.warn} role="alert">
          {troubleSentence(said)}
        </span>
      )}
    </div>
  );
}
