{{ config(location='../data/staged/stg_flights.parquet') }}

-- Times in the raw file are local clock readings (517 is 05:17). The scheduled departure is exact; the actual one is
-- the scheduled one plus the delay, because the clock reading alone does not say which day it belongs to.
with raw as (
    select * from {{ source('nycflights13', 'flights') }}
),

typed as (
    select
        carrier,
        cast(flight as bigint) as flight_number,
        tailnum as tail_number,
        origin,
        dest,
        make_date(cast(year as bigint), cast(month as bigint), cast(day as bigint)) as flight_date,
        cast(hour as bigint) as scheduled_hour,
        cast(minute as bigint) as scheduled_minute,
        cast(time_hour as timestamptz) at time zone 'UTC' as scheduled_hour_utc,
        cast(dep_delay as bigint) as departure_delay,
        cast(arr_delay as bigint) as arrival_delay,
        cast(air_time as bigint) as air_time,
        cast(distance as bigint) as distance
    from raw
),

timed as (
    select
        *,
        make_timestamp(
            year(flight_date), month(flight_date), day(flight_date), scheduled_hour, scheduled_minute, 0.0
        ) as scheduled_departure
    from typed
)

select
    carrier || flight_number || '-' || origin || '-' || strftime(scheduled_departure, '%Y%m%dT%H%M') as flight_id,
    flight_date,
    carrier,
    flight_number,
    tail_number,
    origin,
    dest,
    scheduled_departure,
    scheduled_departure + to_minutes(departure_delay) as departed_at,
    scheduled_hour_utc,
    departure_delay,
    arrival_delay,
    air_time,
    distance
from timed
order by flight_id
