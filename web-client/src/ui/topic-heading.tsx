import { ScrollArea, Text } from '@mantine/core';
import { visibleText } from './visible-text.ts';

/** Three lines, as MQTT allows topics of 65,535 bytes: everything else has to stay visible. */
const HEIGHT_MAX = 62;

/** Topics of this many characters may take more than three lines, and can be scrolled by key. */
const LONG_CHARACTERS = 60;

interface TopicHeadingProps {
  readonly topic: string;
  readonly className: string | undefined;
}

/** A topic above its details. */
export function TopicHeading({ topic, className }: TopicHeadingProps) {
  return (
    <ScrollArea.Autosize
      mah={HEIGHT_MAX}
      type="auto"
      scrollbarSize={6}
      className={className}
      viewportProps={topic.length < LONG_CHARACTERS ? {} : { tabIndex: 0 }}
    >
      <Text size="sm" fw={600} component="h2">
        {visibleText(topic)}
      </Text>
    </ScrollArea.Autosize>
  );
}
