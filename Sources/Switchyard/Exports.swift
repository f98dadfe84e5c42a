@_exported public import SwitchyardAPI
@_exported public import SwitchyardClient
@_exported public import SwitchyardHTTP
@_exported public import SwitchyardServices
@_exported public import SwitchyardTransport
