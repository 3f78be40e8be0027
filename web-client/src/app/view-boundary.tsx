import { Button, Center, Code, EmptyState } from '@mantine/core';
import { IconMoodSad } from '@tabler/icons-react';
import { Component, type ReactNode } from 'react';

interface ViewBoundaryState {
  readonly error: Error | undefined;
}

/** Isolates the failure of a view: the connections go on, and the view can be opened again. */
export class ViewBoundary extends Component<{ readonly children: ReactNode }, ViewBoundaryState> {
  override state: ViewBoundaryState = { error: undefined };

  static getDerivedStateFromError(error: unknown): ViewBoundaryState {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return <Broken error={error} again={() => this.setState({ error: undefined })} />;
  }
}

function Broken({ error, again }: { readonly error: Error; readonly again: () => void }) {
  return (
    <Center h="100%" p="md">
      <EmptyState
        icon={<IconMoodSad />}
        title="This view has failed"
        description={<Code>{error.message}</Code>}
      >
        <Button variant="default" onClick={again}>
          Open it again
        </Button>
      </EmptyState>
    </Center>
  );
}
