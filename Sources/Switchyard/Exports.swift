@_exported public import SwitchyardAPI
@_exported public import SwitchyardClient
@_exported public import SwitchyardServices
