import { useDeferredValue, useId, useMemo, useState } from 'react';
import type { PortalDocument, PortalTopic } from './document/portal-document.ts';
import { type StreamChoice, searchTopics, streamNames } from './document/search-topics.ts';
import { text } from './strings.ts';
import { linkTo } from './ui/location.ts';

interface TopicListProps {
  readonly document: PortalDocument;
  readonly current: PortalTopic | undefined;
}

export function TopicList({ document: { topics, leftOut }, current }: TopicListProps) {
  const [search, setSearch] = useState('');
  const [choice, setChoice] = useState<StreamChoice>('all');
  const asked = useDeferredValue(search);
  const found = useMemo(() => searchTopics(topics, asked, choice), [topics, asked, choice]);
  const streams = useMemo(() => streamNames(topics), [topics]);
  const heading = useId();
  return (
    <nav aria-labelledby={heading}>
      <h2 id={heading}>{text.topics}</h2>
      <search>
        <label className="field">
          {text.search}
          <input type="search" value={search} onChange={({ target }) => setSearch(target.value)} />
        </label>
        {streams.length > 0 && (
          <label className="field">
            {text.stream}
            <select value={choice} onChange={({ target }) => setChoice(target.value as StreamChoice)}>
              <option value="all">{text.allStreams}</option>
              {streams.map((name) => (
                <option key={name} value={`=${name}`}>
                  {name}
                </option>
              ))}
              <option value="none">{text.noStream}</option>
            </select>
          </label>
        )}
      </search>
      <p role="status" className="quiet">
        {found.length === 0 ? text.none : text.count(found.length)}
      </p>
      <ul className="topics">
        {found.map((topic) => (
          <li key={topic.address}>
            <a href={linkTo(topic.address)} aria-current={topic === current ? 'page' : undefined}>
              <span>{topic.title}</span> {topic.title !== topic.address && <code>{topic.address}</code>}
              {topic.stream !== undefined && <span className="tag">{topic.stream.name}</span>}
            </a>
          </li>
        ))}
      </ul>
      {leftOut > 0 && <p className="quiet">{text.leftOut(leftOut)}</p>}
    </nav>
  );
}
