-- Version 1. Never edited: what changes comes as the next number.

-- One entry for each job. All of it but the lease is derived from the job's events; sequence and head say where its log
-- ends, so that a lost end is seen.
CREATE TABLE jobs (
    ordinal  INTEGER PRIMARY KEY AUTOINCREMENT,
    id       TEXT    NOT NULL UNIQUE,
    sequence INTEGER NOT NULL CHECK (sequence >= 1),
    head     TEXT    NOT NULL,
    fence    INTEGER NOT NULL CHECK (fence >= 1),
    owner    TEXT
) STRICT;

CREATE TRIGGER jobs_stay BEFORE DELETE ON jobs
BEGIN SELECT RAISE(ABORT, 'a job is never deleted'); END;

CREATE TRIGGER jobs_only_advance BEFORE UPDATE ON jobs
WHEN NEW.ordinal <> OLD.ordinal OR NEW.id <> OLD.id OR NEW.sequence < OLD.sequence OR NEW.fence < OLD.fence
BEGIN SELECT RAISE(ABORT, 'the name, the log and the fence of a job never go back'); END;

-- The truth. bytes are exactly what was hashed; digest is theirs.
CREATE TABLE events (
    job      TEXT    NOT NULL REFERENCES jobs (id),
    sequence INTEGER NOT NULL CHECK (sequence >= 1),
    bytes    BLOB    NOT NULL,
    digest   TEXT    NOT NULL,
    PRIMARY KEY (job, sequence)
) STRICT;

CREATE TRIGGER events_stay BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'an event is never deleted'); END;

CREATE TRIGGER events_never_change BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'an event is never changed'); END;

-- Also what keeps INSERT OR REPLACE from changing an event: REPLACE deletes without asking the triggers above.
CREATE TRIGGER events_come_in_order BEFORE INSERT ON events
WHEN NEW.sequence <> 1 + (SELECT coalesce(max(sequence), 0) FROM events WHERE job = NEW.job)
BEGIN SELECT RAISE(ABORT, 'an event comes right after the one before it'); END;

CREATE TABLE approvals (
    digest TEXT PRIMARY KEY NOT NULL,
    bytes  BLOB NOT NULL
) STRICT;

CREATE TRIGGER approvals_first_stays BEFORE INSERT ON approvals
WHEN EXISTS (SELECT 1 FROM approvals WHERE digest = NEW.digest)
BEGIN SELECT RAISE(IGNORE); END;

CREATE TRIGGER approvals_stay BEFORE DELETE ON approvals
BEGIN SELECT RAISE(ABORT, 'an approval is never deleted'); END;

CREATE TRIGGER approvals_never_change BEFORE UPDATE ON approvals
BEGIN SELECT RAISE(ABORT, 'an approval is never changed'); END;

-- Which blob says how a plan was frozen here; the last one counts.
CREATE TABLE freezes (
    ordinal INTEGER PRIMARY KEY AUTOINCREMENT,
    plan    TEXT NOT NULL,
    record  TEXT NOT NULL
) STRICT;

CREATE INDEX freezes_by_plan ON freezes (plan, ordinal);

CREATE TRIGGER freezes_stay BEFORE DELETE ON freezes
BEGIN SELECT RAISE(ABORT, 'a freeze record is never deleted'); END;

CREATE TRIGGER freezes_never_change BEFORE UPDATE ON freezes
BEGIN SELECT RAISE(ABORT, 'a freeze record is never changed'); END;
